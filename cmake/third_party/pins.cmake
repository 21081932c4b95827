# Lists the third-party sources that are built. VITRINE_XNNPACK_PIN chooses one of two sets. Each row is one source:
#   name | commit | public repository | archive | hash of the archive
# If Debian has the source, the row has the archive's path below pool/main and the archive's SHA-256. Otherwise, the
# repository's host makes the archive from the commit, and may compress the same contents differently each time. So the
# row then has the hash of the git tree of the contents. docs/dependencies.md explains the pins and how to move one.
set(_pthreadpool
  "pthreadpool|0e6ca13779b57d397a5ba6bfdcaa8a275bc8ea2e|https://github.com/google/pthreadpool.git|p/pthreadpool/pthreadpool_0.0~git20251020.0e6ca13.orig.tar.xz|7a385b6585abe8f8658952c50b44a1dabe200de2c88eabe65d15168b8a82295c")
set(_fp16_and_fxdiv
  "FP16|4dfe081cf6bcd15db339cf2680b9281b8451eeb3|https://github.com/Maratyszcza/FP16.git|f/fp16/fp16_0.0~git20200514.4dfe081.orig.tar.xz|7d7782b37b74136e0e12593a2a93ccbe7db831f4374cc408e44623d9b708b54e"
  "FXdiv|b408327ac2a15ec3e43352421954f5b1967701d1|https://github.com/Maratyszcza/FXdiv.git|f/fxdiv/fxdiv_0.0~git20200417.b408327.orig.tar.xz|7953482badaf4cb34026c3487c257b8e4ab2df061c019bd6fabbbc12ad52c44b")
# XNNPACK of November 2024, which Debian's archive has.
set(VITRINE_PINS_debian
  "XNNPACK|4ea82e595b36106653175dcb04b2aa532660d0d8|https://github.com/google/XNNPACK.git|x/xnnpack/xnnpack_0.0~git20241108.4ea82e5.orig.tar.xz|90bde2caef0f880f627bab0dc805a86c4b8070cd98e3243db3046ab3f3be1a99"
  ${_pthreadpool}
  "cpuinfo|877328f188a3c7d1fa855871a278eb48d530c4c0|https://github.com/pytorch/cpuinfo.git|c/cpuinfo/cpuinfo_0.0~git20250905.877328f.orig.tar.xz|557ca404a3836b9f335a3a06b65ff9fe9dbaaefab7fb5c0185f53d9f33615a10"
  ${_fp16_and_fxdiv})
# XNNPACK of July 2026, which ExecuTorch 1.5 uses.
set(VITRINE_PINS_upstream
  "XNNPACK|92a7ad501b9516f9fecae119e0146dd1f58e54c1|https://github.com/google/XNNPACK.git|XNNPACK-92a7ad501b9516f9fecae119e0146dd1f58e54c1.tar.gz|tree:1427099683bd43154ea143f9e3a111194a6dd070"
  ${_pthreadpool}
  "cpuinfo|6882af581bbbdd073c946eae4fd21bc037ff39cf|https://github.com/pytorch/cpuinfo.git|cpuinfo-6882af581bbbdd073c946eae4fd21bc037ff39cf.tar.gz|tree:47302a8225794276af965884110e16e8ab8a29bd"
  ${_fp16_and_fxdiv})
if(NOT DEFINED VITRINE_PINS_${VITRINE_XNNPACK_PIN})
  message(FATAL_ERROR "VITRINE_XNNPACK_PIN is \"${VITRINE_XNNPACK_PIN}\"; expected debian or upstream (docs/dependencies.md)")
endif()
set(VITRINE_PINS ${VITRINE_PINS_${VITRINE_XNNPACK_PIN}})

# Corrections of these sources, one patch per defect: patches/<pin>/<name>-<defect>.patch.
file(GLOB VITRINE_SOURCE_PATCHES ${CMAKE_CURRENT_LIST_DIR}/patches/${VITRINE_XNNPACK_PIN}/*.patch)

# Splits a row of VITRINE_PINS into <prefix>_NAME, _COMMIT, _GIT, _TARBALL, _HASH.
macro(vitrine_read_pin prefix row)
  string(REPLACE "|" ";" _fields "${row}")
  list(GET _fields 0 ${prefix}_NAME)
  list(GET _fields 1 ${prefix}_COMMIT)
  list(GET _fields 2 ${prefix}_GIT)
  list(GET _fields 3 ${prefix}_TARBALL)
  list(GET _fields 4 ${prefix}_HASH)
endmacro()
