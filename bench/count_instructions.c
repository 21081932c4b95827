/* A plugin of qemu's user emulation that prints the number of instructions that a program executed.
   Build: gcc -shared -fPIC -O2 -o count_instructions.so bench/count_instructions.c
   Run: qemu-aarch64 -plugin ./count_instructions.so -d plugin PROGRAM ARGUMENTS
   QEMU_API is the version of qemu's plugin interface: 1 up to qemu 8.1, 2 or more afterward. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifndef QEMU_API
#define QEMU_API 1
#endif

/* Debian has no package with qemu-plugin.h, so this declares the functions that are used. */
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*call)(qemu_plugin_id_t, struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* block,
                                          void (*call)(unsigned, void*), int flags, void* data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*call)(qemu_plugin_id_t, void*),
                                    void* data);
void qemu_plugin_outs(const char* text);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = QEMU_API;

static uint64_t executed;

static void count(unsigned processor, void* instructions) {
  (void)processor;
  __atomic_fetch_add(&executed, (uintptr_t)instructions, __ATOMIC_RELAXED);
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_cb(block, count, 0, (void*)qemu_plugin_tb_n_insns(block));
}

static void print(qemu_plugin_id_t id, void* data) {
  (void)id;
  (void)data;
  char text[64];
  snprintf(text, sizeof(text), "%llu instructions\n", (unsigned long long)executed);
  qemu_plugin_outs(text);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int count_of_arguments,
                               char** arguments) {
  (void)info;
  (void)count_of_arguments;
  (void)arguments;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_atexit_cb(id, print, NULL);
  return 0;
}
