// Compares multithreaded modules with single-threaded modules.
//
//   modules_bench [--modules 2,4] [--threads 2] [--rounds N] [--ms N] [--processes] MODEL.pte...
//
// Every module runs its model in a loop on its own thread, with its own thread pool. Each round
// measures both kinds of modules, in alternating order. The ratios are medians over the rounds.
// `ratio` compares the runs per second. `CPU` compares the processor time per run, including
// spinning workers. Everything is measured twice: without other load, and next to a process that
// keeps one core busy. With --processes, every module has its own process.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "bench/report/statistics.h"
#include "bench/suite/loaded_program.h"
#include "runtime/platform/clock.h"
#include "tools/common/tool_error.h"

namespace vitrine::bench {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::vector<fs::path> models;
  std::vector<size_t> modules = {2, 4};
  size_t threads = 2;
  int rounds = 9;
  int ms = 100;
  bool processes = false;
};

// The totals of all modules that run at the same time.
struct Speed {
  double runs_per_s = 0;
  double cpu_s = 0;  // processor seconds of the process, per second of the run

  double cpu_per_run() const { return cpu_s / runs_per_s; }
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A child process that executes commands from this process. The destructor ends the child.
class Child {
 public:
  // `serve(commands, answers)` runs in the new process. It reads from the file descriptor
  // `commands` and writes to the file descriptor `answers`.
  explicit Child(const std::function<void(int, int)>& serve) {
    int to_child[2];
    int from_child[2];
    if (pipe(to_child) != 0 || pipe(from_child) != 0) {
      throw std::runtime_error("cannot create pipes");
    }
    std::fflush(stdout);
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("cannot start a process");
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      try {
        serve(to_child[0], from_child[1]);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "modules_bench: %s\n", error.what());
      }
      _exit(1);
    }
    close(to_child[0]);
    close(from_child[1]);
    commands_ = to_child[1];
    answers_ = from_child[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(commands_);
    close(answers_);
  }

  void send(char command) const {
    if (write(commands_, &command, 1) != 1)
      throw std::runtime_error("a measuring process ended early");
  }
  Speed answer() const {
    Speed speed;
    if (read(answers_, &speed, sizeof speed) != sizeof speed) {
      throw std::runtime_error("a measuring process ended early");
    }
    return speed;
  }
  void signal(int number) const { kill(pid_, number); }

 private:
  pid_t pid_ = -1;
  int commands_ = -1;
  int answers_ = -1;
};

class Modules {
 public:
  Modules(const fs::path& model, size_t count, size_t threads) {
    for (size_t i = 0; i < count; ++i) {
      programs_.push_back(std::make_unique<LoadedProgram>(
          ProgramUse{.file = model},
          std::shared_ptr<ThreadPool>(tools::check(ThreadPool::create(threads)).release())));
      tasks_.push_back(programs_.back()->timed_task());
    }
  }

  Speed run(int ms) {
    const uint64_t begin = platform::now_ns();
    const double cpu = cpu_seconds();
    std::vector<double> rates(tasks_.size());
    std::vector<std::thread> callers;
    std::latch start(static_cast<std::ptrdiff_t>(tasks_.size()));
    for (size_t i = 0; i < tasks_.size(); ++i) {
      callers.emplace_back([&, i] {
        start.arrive_and_wait();
        rates[i] = run_one(tasks_[i], ms);
      });
    }
    for (std::thread& caller : callers) caller.join();
    Speed speed;
    for (const double rate : rates) speed.runs_per_s += rate;
    speed.cpu_s = (cpu_seconds() - cpu) / (static_cast<double>(platform::now_ns() - begin) * 1e-9);
    return speed;
  }

 private:
  static double run_one(TimedTask& task, int ms) {
    const uint64_t begin = platform::now_ns();
    const uint64_t end = begin + static_cast<uint64_t>(ms) * 1'000'000;
    double runs = 0;
    uint64_t now = begin;
    for (; now < end; now = platform::now_ns()) {
      if (task.prepare) task.prepare();
      task.run();
      ++runs;
    }
    return runs / static_cast<double>(now - begin) * 1e9;
  }

  std::vector<std::unique_ptr<LoadedProgram>> programs_;
  std::vector<TimedTask> tasks_;
};

// Runs modules in this process: with one thread each for command 0, with several threads each for
// command 1.
void serve_modules(const fs::path& model, size_t count, const Arguments& arguments, int commands,
                   int answers) {
  Modules variants[] = {{model, count, 1}, {model, count, arguments.threads}};
  char command = 0;
  while (read(commands, &command, 1) == 1) {
    const Speed speed = variants[command != 0 ? 1 : 0].run(arguments.ms);
    if (write(answers, &speed, sizeof speed) != sizeof speed) return;
  }
}

Speed speed_of(const std::vector<std::unique_ptr<Child>>& children, int variant) {
  for (const auto& child : children) child->send(static_cast<char>(variant));
  Speed sum;
  for (const auto& child : children) {
    const Speed speed = child->answer();
    sum.runs_per_s += speed.runs_per_s;
    sum.cpu_s += speed.cpu_s;
  }
  return sum;
}

void measure(const fs::path& model, size_t count, const Arguments& arguments,
             const Child& neighbor) {
  const size_t processes = arguments.processes ? count : 1;
  std::vector<std::unique_ptr<Child>> children;
  for (size_t i = 0; i < processes; ++i) {
    children.push_back(std::make_unique<Child>([&](int commands, int answers) {
      serve_modules(model, count / processes, arguments, commands, answers);
    }));
  }
  for (const bool is_busy : {false, true}) {
    neighbor.signal(is_busy ? SIGCONT : SIGSTOP);
    for (const int variant : {0, 1}) speed_of(children, variant);  // warms up
    std::vector<double> rates[2];
    std::vector<double> ratios;
    std::vector<double> cpu_ratios;
    for (int round = 0; round < arguments.rounds; ++round) {
      Speed speeds[2];
      for (const int i : {0, 1}) {
        const int variant = (i + round) % 2;
        speeds[variant] = speed_of(children, variant);
        rates[variant].push_back(speeds[variant].runs_per_s);
      }
      ratios.push_back(speeds[1].runs_per_s / speeds[0].runs_per_s);
      cpu_ratios.push_back(speeds[1].cpu_per_run() / speeds[0].cpu_per_run());
    }
    const Timing ratio = timing_of(ratios);
    const Timing cpu_ratio = timing_of(cpu_ratios);
    // The table lists a file model.pte by the name of its folder.
    const fs::path name = model.stem() == "model" ? model.parent_path().filename() : model.stem();
    fmt::print("{:<20.20} {:>7} {:<5} {:>8.1f} {:>9.1f} {:>5.2f} {:>3.0f} % {:>5.2f} {:>3.0f} %\n",
               name.string(), count, is_busy ? "busy" : "quiet", timing_of(rates[0]).p50,
               timing_of(rates[1]).p50, ratio.p50, 100 * ratio.noise, cpu_ratio.p50,
               100 * cpu_ratio.noise);
    std::fflush(stdout);
  }
}

void run(const Arguments& arguments) {
  const Child neighbor([](int, int) {
    for (volatile bool is_forever = true; is_forever;) continue;
  });
  neighbor.signal(SIGSTOP);
  fmt::print("{:<20} {:>7} {:<5} {:>8} {:>9} {:>5} {:>5} {:>5} {:>5}\n", "runs per second",
             "modules", "", "1 thread", fmt::format("{} threads", arguments.threads), "ratio",
             "noise", "CPU", "noise");
  for (const fs::path& model : arguments.models) {
    for (const size_t count : arguments.modules) measure(model, count, arguments, neighbor);
  }
}

}  // namespace
}  // namespace vitrine::bench

int main(int argc, char** argv) {
  vitrine::bench::Arguments arguments;
  CLI::App app("Compares multithreaded modules with single-threaded modules.");
  app.add_option("models", arguments.models, "programs")->required()->check(CLI::ExistingFile);
  app.add_option("--modules", arguments.modules, "numbers of modules that run at the same time")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--threads", arguments.threads, "number of threads of each module")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rounds", arguments.rounds, "number of measurements of each variant")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--ms", arguments.ms, "milliseconds per measurement")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--processes", arguments.processes, "run every module in a process of its own");
  CLI11_PARSE(app, argc, argv);
  try {
    vitrine::bench::run(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "modules_bench: %s\n", error.what());
    return 1;
  }
}
