# The WebAssembly modules and their tests.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#   sheaf-verify.mjs    verifying side                  each .mjs with two .wasm, of which the one named -relaxed uses
#   sheaf.mjs           everything, one thread          relaxed SIMD
#   sheaf-threads.mjs   everything, threads
#   tests/*.cjs         unit tests for Node.js; tests/wasm/run.sh runs them
# src/wasm_simd/abi.h says what they offer. The page decides which .wasm it loads; the .mjs is the same for both.

set(wasm_dir ${PROJECT_BINARY_DIR}/modules)

# ---- objects: with and without threads, and the kernels with relaxed SIMD ----

set(flags_threads -pthread)
set(flags_relaxed -mrelaxed-simd)

function(sheaf_wasm_objects name)
  cmake_parse_arguments(arg "THREADS;RELAXED;VERIFIER" "" "SOURCES" ${ARGN})
  add_library(${name} OBJECT ${arg_SOURCES})
  target_include_directories(${name} PRIVATE include src src/common)
  target_include_directories(${name} SYSTEM PRIVATE ${SHEAF_BEARSSL_DIR}/inc ${SHEAF_BEARSSL_DIR}/src)
  target_compile_options(${name} PRIVATE -msimd128 -ffunction-sections -fdata-sections)
  target_compile_definitions(${name} PRIVATE ${simd_definitions})
  if(arg_THREADS)
    target_compile_options(${name} PRIVATE ${flags_threads})
  else()
    target_compile_definitions(${name} PRIVATE SHEAF_NO_THREADS)
  endif()
  if(arg_RELAXED)
    target_compile_options(${name} PRIVATE ${flags_relaxed})
  endif()
  if(arg_VERIFIER)
    target_compile_definitions(${name} PRIVATE SHEAF_WASM_VERIFIER SHEAF_VERIFIER_KERNELS)
  endif()
  if(NOT "${arg_SOURCES}" MATCHES "bearssl")
    target_compile_options(${name} PRIVATE ${warnings})
  endif()
endfunction()

set(abi_verify src/wasm_simd/abi.c)
set(abi_prove src/wasm_simd/abi_prove.c)
sheaf_wasm_objects(wasm_verifier SOURCES ${abi_verify} ${verifier_sources} VERIFIER)
sheaf_wasm_objects(wasm_verifier_kernels SOURCES ${simd_sources} VERIFIER)
sheaf_wasm_objects(wasm_verifier_kernels_relaxed SOURCES ${simd_sources} VERIFIER RELAXED)
sheaf_wasm_objects(wasm_abi SOURCES ${abi_verify} ${abi_prove})
sheaf_wasm_objects(wasm_abi_threads SOURCES ${abi_verify} ${abi_prove} THREADS)
sheaf_wasm_objects(wasm_kernels_relaxed SOURCES ${simd_sources} RELAXED)
sheaf_wasm_objects(wasm_kernels_threads SOURCES ${simd_sources} THREADS)
sheaf_wasm_objects(wasm_kernels_threads_relaxed SOURCES ${simd_sources} THREADS RELAXED)
sheaf_wasm_objects(wasm_threads SOURCES ${verifier_sources} ${prover_sources} THREADS)
sheaf_wasm_objects(wasm_bearssl_threads SOURCES ${bearssl_sources} THREADS)
target_compile_options(wasm_bearssl_threads PRIVATE -w)

# ---- modules ----

set(wasm_library ${PROJECT_SOURCE_DIR}/src/wasm_simd/library.js)
set(exports_verify malloc free)
file(STRINGS src/wasm_simd/abi.h abi_functions REGEX "sheaf_wasm_[a-z_0-9]+\\(")
set(abi_names)
foreach(line IN LISTS abi_functions)
  if(line MATCHES "^[a-z].*[ *](sheaf_wasm_[a-z_0-9]+)\\(")
    list(APPEND abi_names ${CMAKE_MATCH_1})
  endif()
endforeach()
file(STRINGS ${abi_verify} verify_functions REGEX "^[a-z].*[ *]sheaf_wasm_[a-z_0-9]+\\(.*{$|^[a-z].*[ *]sheaf_wasm_[a-z_0-9]+\\(")
set(verify_names)
foreach(line IN LISTS verify_functions)
  if(line MATCHES "[ *](sheaf_wasm_[a-z_0-9]+)\\(")
    list(APPEND verify_names ${CMAKE_MATCH_1})
  endif()
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/wasm_simd/abi.h ${abi_verify})

# Nothing here evaluates text, so that the policy script-src 'self' 'wasm-unsafe-eval' is enough; nothing installs handlers in the
# process; there is no file system. Memory grows as it is needed, by steps, and malloc says where there is none left.
set(wasm_link
  -msimd128 -sMODULARIZE -sEXPORT_ES6 -sEXPORT_NAME=createSheafModule -sENVIRONMENT=web,worker,node -sFILESYSTEM=0
  -sDYNAMIC_EXECUTION=0 -sALLOW_MEMORY_GROWTH -sMEMORY_GROWTH_LINEAR_STEP=4MB -sSTACK_SIZE=1MB -sASSERTIONS=0
  -sSUPPORT_LONGJMP=0 -sNODEJS_CATCH_EXIT=0 -sNODEJS_CATCH_REJECTION=0 -sMIN_NODE_VERSION=180000 -sEXIT_RUNTIME=0
  -sINCOMING_MODULE_JS_API=wasmBinary,instantiateWasm,locateFile,wasmMemory --no-entry)

function(sheaf_wasm_module name)
  cmake_parse_arguments(arg "THREADS;VERIFIER" "KERNELS;RELAXED_KERNELS" "OBJECTS;OPTIONS" ${ARGN})
  if(arg_VERIFIER)
    set(names ${verify_names})
  else()
    set(names ${abi_names})
  endif()
  list(TRANSFORM names PREPEND "_")
  list(JOIN names "," exported)
  set(runtime wasmMemory)
  if(arg_THREADS)
    set(runtime wasmMemory,PThread)
  endif()
  foreach(variant simd relaxed)
    set(objects ${arg_OBJECTS})
    if(variant STREQUAL simd)
      set(out ${wasm_dir}/${name})
      list(APPEND objects ${arg_KERNELS})
    else()
      set(out ${wasm_dir}/relaxed/${name})
      list(APPEND objects ${arg_RELAXED_KERNELS})
    endif()
    set(files)
    foreach(object IN LISTS objects)
      list(APPEND files $<TARGET_OBJECTS:${object}>)
    endforeach()
    get_filename_component(folder ${out} DIRECTORY)
    set(link_options ${wasm_link} ${arg_OPTIONS})
    if(variant STREQUAL relaxed)
      list(APPEND link_options ${flags_relaxed})
    endif()
    add_custom_command(OUTPUT ${out}.mjs ${out}.wasm
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND ${CMAKE_C_COMPILER} -O3 ${link_options} --js-library ${wasm_library} -sEXPORTED_FUNCTIONS=${exported}
        -sEXPORTED_RUNTIME_METHODS=${runtime} ${files} -o ${out}.mjs
      DEPENDS ${files} ${wasm_library} ${objects}
      COMMENT "Linking ${variant} ${name}.wasm" COMMAND_EXPAND_LISTS VERBATIM)
  endforeach()
  # One .mjs for both, which is only right where they are the same text.
  add_custom_command(OUTPUT ${wasm_dir}/${name}-relaxed.wasm
    COMMAND ${CMAKE_COMMAND} -E compare_files ${wasm_dir}/${name}.mjs ${wasm_dir}/relaxed/${name}.mjs
    COMMAND ${CMAKE_COMMAND} -E copy ${wasm_dir}/relaxed/${name}.wasm ${wasm_dir}/${name}-relaxed.wasm
    DEPENDS ${wasm_dir}/${name}.mjs ${wasm_dir}/${name}.wasm ${wasm_dir}/relaxed/${name}.mjs ${wasm_dir}/relaxed/${name}.wasm
    VERBATIM)
  add_custom_target(module_${name} ALL DEPENDS ${wasm_dir}/${name}-relaxed.wasm)
endfunction()

sheaf_wasm_module(sheaf-verify VERIFIER
  OBJECTS wasm_verifier KERNELS wasm_verifier_kernels RELAXED_KERNELS wasm_verifier_kernels_relaxed
  OPTIONS -sMALLOC=emmalloc -sINITIAL_MEMORY=4MB -sMAXIMUM_MEMORY=1GB)
sheaf_wasm_module(sheaf
  OBJECTS wasm_abi sheaf_verifier_objects sheaf_prover_objects sheaf_bearssl KERNELS sheaf_simd_objects
  RELAXED_KERNELS wasm_kernels_relaxed
  OPTIONS -sINITIAL_MEMORY=16MB -sMAXIMUM_MEMORY=4GB)
sheaf_wasm_module(sheaf-threads THREADS
  OBJECTS wasm_abi_threads wasm_threads wasm_bearssl_threads KERNELS wasm_kernels_threads
  RELAXED_KERNELS wasm_kernels_threads_relaxed
  OPTIONS ${flags_threads} -Wno-pthreads-mem-growth -sINITIAL_MEMORY=32MB -sMAXIMUM_MEMORY=4GB
    "-sPTHREAD_POOL_SIZE=Module['sheafWorkers']??3" -sPTHREAD_POOL_SIZE_STRICT=2 -sDEFAULT_PTHREAD_STACK_SIZE=1MB)

# ---- tests in Node.js ----

if(SHEAF_BUILD_TESTS)
  enable_testing()
  # What the kernels can break, and what must come out the same as everywhere else.
  set(wasm_tests test_kernels test_field test_keccak test_shake test_outer test_golden test_leaf)
  set(suites)
  function(sheaf_wasm_test name)
    target_link_libraries(${name} PRIVATE sheaf_flags)
    target_include_directories(${name} PRIVATE tests)
    target_compile_definitions(${name} PRIVATE ${simd_definitions} SHEAF_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_link_options(${name} PRIVATE -O1 -msimd128 ${flags_relaxed} -sNODERAWFS -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB
      -sSTACK_SIZE=1MB -sEXIT_RUNTIME -sSTACK_OVERFLOW_CHECK=2 -sENVIRONMENT=node)
    set_target_properties(${name} PROPERTIES SUFFIX .cjs RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND bash ${PROJECT_SOURCE_DIR}/tests/wasm/run.sh ${PROJECT_BINARY_DIR} ${name})
  endfunction()
  foreach(name IN LISTS wasm_tests)
    set_source_files_properties(tests/unit/${name}.c PROPERTIES COMPILE_OPTIONS -Wno-shorten-64-to-32) # tests count few things
    add_executable(${name} tests/unit/${name}.c)
    target_link_libraries(${name} PRIVATE sheaf_internal)
    sheaf_wasm_test(${name})
    list(APPEND suites ${name})
  endforeach()
  # What the kernels gain: measured by hand, with and without relaxed SIMD.
  foreach(variant simd relaxed)
    set(name bench_kernels)
    set(objects $<TARGET_OBJECTS:sheaf_simd_objects>)
    if(variant STREQUAL relaxed)
      set(name bench_kernels_relaxed)
      set(objects $<TARGET_OBJECTS:wasm_kernels_relaxed>)
    endif()
    add_executable(${name} EXCLUDE_FROM_ALL tests/wasm/bench_kernels.c $<TARGET_OBJECTS:sheaf_verifier_objects> ${objects})
    target_link_libraries(${name} PRIVATE sheaf_flags)
    target_compile_definitions(${name} PRIVATE ${simd_definitions})
    target_link_options(${name} PRIVATE -O3 -msimd128 -sNODERAWFS -sALLOW_MEMORY_GROWTH -sSTACK_SIZE=1MB -sEXIT_RUNTIME
      -sENVIRONMENT=node $<$<STREQUAL:${variant},relaxed>:${flags_relaxed}>)
    set_target_properties(${name} PROPERTIES SUFFIX .cjs RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  endforeach()
  add_executable(test_kernels_relaxed tests/unit/test_kernels.c $<TARGET_OBJECTS:sheaf_verifier_objects>
    $<TARGET_OBJECTS:wasm_kernels_relaxed>)
  sheaf_wasm_test(test_kernels_relaxed)
  add_test(NAME abi COMMAND bash ${PROJECT_SOURCE_DIR}/tests/wasm/run.sh ${PROJECT_BINARY_DIR} abi)
  list(APPEND suites test_kernels_relaxed abi)
  list(JOIN suites "\n" suite_lines)
  file(CONFIGURE OUTPUT tests/suites.txt CONTENT "${suite_lines}\n" @ONLY)
endif()
