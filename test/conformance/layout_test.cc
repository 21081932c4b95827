// Tests nodes that only move elements, so their results must be exact.
#include "test/conformance/conformance.h"

namespace vitrine::test {
namespace {

class Layout : public testing::TestWithParam<NodeCase> {};
TEST_P(Layout, MatchesPortableKernels) { expect_conformance(GetParam()); }

struct LayoutNode {
  std::string name;
  std::vector<Dims> in;
  Dims out;
  BuildNode build;
  Reference reference;
  std::vector<uint32_t> batches = {};
};

LayoutNode transpose(Dims in, std::vector<uint32_t> perm) {
  Dims out;
  std::string name = "StaticTranspose";
  for (const uint32_t dim : perm) {
    out.push_back(in[dim]);
    name += " " + std::to_string(dim);
  }
  return {name,
          {in},
          out,
          [perm](PayloadBuilder& b, Ids x, uint32_t y) { b.transpose(perm, x[0], y); },
          [perm](KernelCall& call, Operands x) -> Tensor& {
            return permuted(call, *x[0], {perm.begin(), perm.end()});
          }};
}

// `written` contains the sizes of the result as the payload states them. A size of 0 means that the
// number of elements determines the size.
LayoutNode reshape(Dims in, Dims out, std::vector<uint32_t> written) {
  std::string name = "StaticReshape";
  for (const uint32_t dim : written) name += " " + std::to_string(dim);
  return {name + " of " + std::to_string(in.size()),
          {in},
          out,
          [written](PayloadBuilder& b, Ids x, uint32_t y) { b.reshape(written, x[0], y); },
          [out](KernelCall& call, Operands x) -> Tensor& {
            return viewed(call, *x[0], as_sizes(out));
          }};
}

LayoutNode slice(Dims in, std::vector<uint32_t> offsets, Dims out) {
  return {"StaticSlice to " + std::to_string(out.back()) + " of rank " + std::to_string(in.size()),
          {in},
          out,
          [=](PayloadBuilder& b, Ids x, uint32_t y) { b.slice(offsets, out, x[0], y); },
          [=](KernelCall& call, Operands x) -> Tensor& {
            Tensor* result = x[0];
            std::vector<int32_t> sizes = as_sizes(in);
            for (size_t dim = 0; dim < in.size(); ++dim) {
              sizes[dim] = static_cast<int32_t>(out[dim]);
              result = &compute(call, "aten::slice_copy.Tensor_out", sizes, *result,
                                static_cast<int64_t>(dim), int64_t{offsets[dim]},
                                int64_t{offsets[dim]} + out[dim], 1);
            }
            return *result;
          }};
}

LayoutNode pad(Dims in, std::vector<uint32_t> before, std::vector<uint32_t> after, float value) {
  Dims out = in;
  std::vector<uint32_t> pairs;  // one pair per dimension, the last dimension first
  for (size_t dim = in.size(); dim-- > 0;) {
    out[dim] += before[dim] + after[dim];
    pairs.push_back(before[dim]);
    pairs.push_back(after[dim]);
  }
  return {"StaticConstantPad with " + std::to_string(value) + " rank " + std::to_string(in.size()),
          {in},
          out,
          [=](PayloadBuilder& b, Ids x, uint32_t y) { b.pad(before, after, value, x[0], y); },
          [=](KernelCall& call, Operands x) -> Tensor& {
            return compute(call, "aten::constant_pad_nd.out", as_sizes(out), *x[0],
                           call.ints({pairs.begin(), pairs.end()}), double{value});
          }};
}

LayoutNode concatenate(std::vector<Dims> in, uint32_t axis) {
  constexpr Tag kTags[] = {Tag::XNNConcatenate2, Tag::XNNConcatenate3, Tag::XNNConcatenate4,
                           Tag::XNNConcatenate5};
  Dims out = in[0];
  out[axis] = 0;
  for (const Dims& dims : in) out[axis] += dims[axis];
  const Tag tag = kTags[in.size() - 2];
  return {"Concatenate" + std::to_string(in.size()) + " axis " + std::to_string(axis) + " rank " +
              std::to_string(out.size()),
          in, out, [=](PayloadBuilder& b, Ids x, uint32_t y) { b.concatenate(tag, axis, x, y); },
          [=](KernelCall& call, Operands x) -> Tensor& {
            std::vector<int32_t> sizes = as_sizes(out);
            if (axis != 0) sizes[0] = x[0]->size(0);
            return compute(call, "aten::cat.out", sizes, call.tensors(x), int64_t{axis});
          }};
}

std::vector<LayoutNode> nodes() {
  std::vector<LayoutNode> all = {
      transpose({5}, {0}),
      transpose({3, 7}, {1, 0}),
      transpose({2, 3, 5}, {2, 0, 1}),
      transpose({1, 3, 5, 7}, {0, 2, 3, 1}),
      transpose({2, 3, 2, 5}, {0, 3, 1, 2}),
      transpose({2, 3, 1, 2, 5}, {4, 2, 0, 3, 1}),
      transpose({2, 1, 3, 2, 1, 2}, {5, 3, 1, 0, 2, 4}),
      transpose({1, 1}, {1, 0}),
      reshape({2, 6}, {3, 4}, {3, 4}),
      reshape({2, 3, 4}, {24}, {24}),
      reshape({6}, {1, 2, 1, 3, 1, 1}, {1, 2, 1, 3, 1, 1}),
      reshape({2, 3, 4}, {2, 12}, {0, 12}),
      reshape({2, 3}, {3, 1, 2}, {3, 1, 0}),
      reshape({1}, {1, 1}, {1, 1}),
      slice({7}, {2}, {3}),
      slice({4, 5}, {1, 0}, {2, 5}),
      slice({2, 3, 4}, {0, 2, 1}, {2, 1, 3}),
      slice({1, 5, 5, 3}, {0, 1, 2, 0}, {1, 3, 3, 3}),
      slice({2, 2, 2, 2, 2, 3}, {1, 0, 1, 0, 1, 0}, {1, 2, 1, 2, 1, 2}),
      pad({5}, {1}, {2}, 0),
      pad({2, 3}, {0, 2}, {1, 0}, 1),
      pad({1, 3, 3, 2}, {0, 1, 2, 0}, {0, 2, 1, 0}, 0),
      pad({2, 1, 2, 2, 1, 3}, {1, 0, 0, 1, 0, 0}, {0, 0, 1, 0, 1, 1}, -1),
      concatenate({{1}, {1}}, 0),
      concatenate({{2, 3}, {2, 4}}, 1),
      concatenate({{2, 3}, {1, 3}}, 0),
      concatenate({{2, 3, 1}, {2, 1, 1}, {2, 2, 1}}, 1),
      concatenate({{1, 2, 2, 3}, {1, 2, 2, 1}, {1, 2, 2, 2}, {1, 2, 2, 5}}, 3),
      concatenate({{1, 2}, {3, 2}, {1, 2}, {2, 2}, {1, 2}}, 0),
      concatenate({{2, 1, 1, 2, 1, 3}, {2, 1, 1, 2, 1, 2}}, 5),
  };
  for (LayoutNode node : {transpose({3, 7}, {0, 1}), reshape({2, 3, 4}, {2, 12}, {0, 12}),
                          concatenate({{2, 3}, {2, 4}}, 1)}) {
    node.name += " empty";
    node.batches = {0};
    all.push_back(node);
  }
  // Vitrine copies rows of 1, 2, 4, 8 or 16 bytes, XNNPACK all others.
  for (const uint32_t width : {1, 2, 3, 4, 5, 8, 16}) {
    LayoutNode node = concatenate({{9, width}, {9, width}, {9, width}}, 1);
    node.name += " width " + std::to_string(width) + " changing batch";
    node.batches = {7, 9, 1};
    all.push_back(node);
  }
  return all;
}

std::vector<NodeCase> cases() {
  std::vector<NodeCase> all;
  for (const LayoutNode& node : nodes()) {
    for (const Type type : kTypes) {
      NodeCase test;
      test.name = node.name + " " + type_name(type);
      test.type = type;
      for (const Dims& dims : node.in) test.operands.push_back({dims, -3, 3});
      test.out_dims = node.out;
      test.build = node.build;
      test.reference = node.reference;
      test.moves_only = true;
      test.batches = node.batches;
      all.push_back(test);
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Nodes, Layout, testing::ValuesIn(cases()), test_name);

}  // namespace
}  // namespace vitrine::test
