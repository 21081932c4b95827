#include "test/corruption/sequence.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "test/corruption/guarded_memory.h"
#include "vitrine/method.h"

namespace vitrine::test {
namespace {

constexpr size_t kMaxBlockBytes = size_t{1} << 18;
constexpr std::byte kPoison{0xA5};

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // SplitMix64.
  uint32_t below(uint32_t bound) {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return static_cast<uint32_t>((z ^ z >> 31) >> 32) % bound;
  }

 private:
  uint64_t state_;
};

struct Block {
  explicit Block(size_t size, std::byte content = kPoison)
      : guarded(size, 0), bytes(guarded.data(), size) {
    std::fill(bytes.begin(), bytes.end(), content);
  }
  GuardedMemory guarded;
  std::span<std::byte> bytes;
};

// A loaded method and its memory.
class Instance {
 public:
  static std::unique_ptr<Instance> load(const std::shared_ptr<const Program>& program,
                                        Random& random, MethodOptions options) {
    const std::string_view name =
        program->method_name(random.below(static_cast<uint32_t>(program->num_methods())));
    const Result<MethodMeta> meta = program->method_meta(name);
    auto instance = std::make_unique<Instance>();
    instance->keeps_state_ = random.below(2) == 0;
    for (size_t i = 0; meta.ok() && i < meta->num_planned_buffers(); ++i) {
      const size_t bytes = meta->planned_buffer_size(i);
      if (bytes > kMaxBlockBytes) return nullptr;
      // Some instances keep their state between executions. Their memory starts with zeros, because
      // methods may rely on zeros. The memory of all other instances is filled with poison before
      // every execution.
      const std::byte content = instance->keeps_state_ ? std::byte{0} : kPoison;
      instance->planned_.push_back(instance->planned_blocks_.emplace_back(bytes, content).bytes);
    }
    options.planned_memory = instance->planned_;
    // Half of the instances skip the check for overlaps, so that damaged memory plans can pass
    // overlapping tensors to kernels.
    if (random.below(2) == 0) options.check_plan = &refuse_overlaps;
    Result<std::unique_ptr<Method>> method = Method::load(program, name, options);
    if (!method.ok()) return nullptr;
    instance->method_ = std::move(*method);
    instance->inputs_.resize(instance->method_->num_inputs());
    instance->outputs_.resize(instance->method_->num_outputs());
    return instance;
  }

  void set_inputs(Random& random) {
    for (size_t i = 0; i < method_->num_inputs(); ++i) {
      // Leaves some inputs unchanged.
      if (random.below(8) != 0) set_input(i, random);
    }
  }

  void set_outputs(Random& random) {
    for (size_t i = 0; i < method_->num_outputs(); ++i) {
      if (method_->meta().output_tag(i) != EValue::Tag::kTensor) continue;
      const size_t bytes = method_->meta().output_tensor(i).nbytes;
      // The method must reject memory that is one byte too small.
      const size_t size = bytes > 0 && random.below(16) == 0 ? bytes - 1 : bytes;
      if (size > kMaxBlockBytes) continue;
      auto block = std::make_unique<Block>(size);
      if (accept(method_->set_output_data(i, block->bytes))) outputs_[i] = std::move(block);
    }
  }

  bool execute() {
    if (!keeps_state_) poison_all_but_inputs();
    const bool ok = accept(method_->execute());
    for (size_t i = 0; ok && i < method_->num_outputs(); ++i) {
      if (method_->output(i).is_tensor()) read(method_->output(i).unchecked_tensor());
    }
    return ok;
  }

 private:
  // Errors are allowed, but must have a message.
  static bool accept(const Error& error) {
    if (!error.ok() && std::strlen(error.message()) == 0) std::abort();
    return error.ok();
  }

  void poison_all_but_inputs() {
    for (const std::span<std::byte> memory : planned_) {
      std::vector<std::pair<size_t, std::vector<std::byte>>> inputs;
      for (size_t i = 0; i < method_->num_inputs(); ++i) {
        if (!method_->input(i).is_tensor()) continue;
        const Tensor& input = method_->input(i).unchecked_tensor();
        // The difference is unsigned. If the input is before the memory, the difference wraps
        // around and exceeds the size of the memory.
        const size_t at = reinterpret_cast<uintptr_t>(input.raw_data()) -
                          reinterpret_cast<uintptr_t>(memory.data());
        if (at >= memory.size()) continue;
        const auto bytes = memory.subspan(at, std::min(input.nbytes(), memory.size() - at));
        inputs.emplace_back(at, std::vector(bytes.begin(), bytes.end()));
      }
      std::fill(memory.begin(), memory.end(),
                kPoison);  // compiles to memset, unlike std::ranges::fill
      for (const auto& [at, bytes] : inputs) std::ranges::copy(bytes, &memory[at]);
    }
  }

  void read(const Tensor& tensor) {
    if (!tensor.is_readable()) return;
    const auto* bytes = static_cast<const std::byte*>(tensor.raw_data());
    for (size_t i = 0; i < tensor.nbytes(); ++i) sum_ = sum_ + static_cast<uint8_t>(bytes[i]);
  }

  void set_input(size_t index, Random& random) {
    if (!method_->input(index).is_tensor()) {
      accept(method_->set_input(index, method_->input(index)));
      return;
    }
    const TensorInfo info = method_->meta().input_tensor(index);
    std::array<int32_t, kMaxRank> sizes{};
    std::array<uint8_t, kMaxRank> dim_order{};
    std::array<int64_t, kMaxRank> strides{};
    const size_t rank = info.sizes.size();
    const bool keep = info.dynamism == ShapeDynamism::kStatic && random.below(16) != 0;
    std::ranges::copy(info.dim_order, dim_order.begin());
    int64_t count = 1;
    for (size_t d = 0; d < rank; ++d) {
      const int64_t size = info.sizes[d];
      const int64_t others[] = {size, size, size, size, size, 1, size / 2, 0, size - 1, size + 1};
      sizes[d] = static_cast<int32_t>(
          std::clamp<int64_t>(others[keep ? 0 : random.below(10)], 0, INT32_MAX));
      count *= sizes[d];
      if (count > static_cast<int64_t>(kMaxBlockBytes / 16)) return;
    }
    Tensor tensor(info.dtype, {sizes.data(), rank}, {dim_order.data(), rank},
                  {strides.data(), rank}, nullptr, ShapeDynamism::kStatic);
    auto block = std::make_unique<Block>(tensor.nbytes());
    fill(tensor.dtype(), block->bytes, random);
    tensor.set_data(block->bytes.data());
    if (accept(method_->set_input(index, EValue(&tensor)))) inputs_[index] = std::move(block);
  }

  // Fills the memory with zeros, with small numbers (often valid indices), or with poison.
  static void fill(ScalarType dtype, std::span<std::byte> memory, Random& random) {
    const uint32_t kind = random.below(4);
    if (kind == 3 && dtype != ScalarType::kBool) return;  // poison
    std::ranges::fill(memory, std::byte{0});
    if (kind == 0) return;
    const size_t element = element_size(dtype);
    for (size_t i = 0; i + element <= memory.size(); i += element) {
      if (dtype == ScalarType::kFloat) {
        const float value = static_cast<float>(random.below(17)) / 8 - 1;
        std::memcpy(&memory[i], &value, sizeof value);
      } else {
        memory[i] = static_cast<std::byte>(random.below(2));
      }
    }
  }

  // The blocks must outlive the method, so they are declared before it. When the block of an input
  // or output is replaced, the old block is freed immediately, so that later accesses are detected.
  std::deque<Block> planned_blocks_;
  std::vector<std::span<std::byte>> planned_;
  std::vector<std::unique_ptr<Block>> inputs_;
  std::vector<std::unique_ptr<Block>> outputs_;
  std::unique_ptr<Method> method_;
  bool keeps_state_ = false;
  volatile uint32_t sum_ = 0;
};

}  // namespace

SequenceCounts run_sequence(std::span<const std::byte> bytes, uint64_t seed, int steps,
                            const KernelRegistry& kernels, const BackendRegistry& backends) {
  SequenceCounts counts;
  Result<std::unique_ptr<DataSource>> source = view_buffer(bytes);
  if (!source.ok()) return counts;
  Result<std::shared_ptr<const Program>> program = Program::load(std::move(*source));
  if (!program.ok() || (*program)->num_methods() == 0) return counts;
  MethodOptions options;
  options.kernels = &kernels;
  options.backends = &backends;
  options.limits.max_memory_bytes = 8 * kMaxBlockBytes;
  options.limits.max_instructions_per_run = 500;
  options.accept_unwritten_outputs = true;
  Random random(seed);
  std::array<std::unique_ptr<Instance>, 3> instances;
  for (int step = 0; step < steps; ++step) {
    std::unique_ptr<Instance>& instance =
        instances[random.below(static_cast<uint32_t>(instances.size()))];
    const uint32_t action = random.below(8);
    if (instance == nullptr || action == 0) {
      if (random.below(2) == 0) instance.reset();
      instance = Instance::load(*program, random, options);
      if (instance != nullptr) ++counts.loads;
      if (instance == nullptr && counts.loads == 0) return counts;
    } else if (action < 4) {
      instance->set_inputs(random);
    } else if (action < 5) {
      instance->set_outputs(random);
    } else {
      counts.executions += instance->execute() ? 1 : 0;
    }
  }
  return counts;
}

}  // namespace vitrine::test
