# Tests that take an emulator of AArch64 or Node more than about ten seconds: tools/aarch64.sh and
# tools/cross.sh neither build nor run them unless they are asked for all (target slow_tests,
# label slow). Wine is no emulator: it runs everything.
if(NOT CMAKE_CROSSCOMPILING OR WIN32)
  return()
endif()
add_custom_target(slow_tests)
foreach(name IN ITEMS
    test_chips test_counts test_crossbar test_crossbar_effects test_crossbar_sealed
    test_crossbar_tied_sealed test_defaults test_density test_design test_draw test_empirical
    test_energy test_evaluate test_extremes test_families test_family test_fit
    test_fit_decision test_fit_families test_fit_maximum test_goodness test_gradient_noise
    test_kl test_kl_backend_sealed test_kl_bound test_law_functions test_law_goodness
    test_level_mixture test_likelihood_choice test_members test_net_choice test_net_cpu test_net_noise
    test_net_noise_sealed test_net_ops test_net_ops_double test_net_ops_sealed test_net_pass
    test_net_pass_sealed test_noise_net test_number test_plan test_plan_local test_prior_choice
    test_plan_local_sealed test_plan_outputs test_predict test_predict_sealed test_process
    test_recordings test_reproduce test_rule test_rule_standard test_score test_score_errors
    test_score_gaps test_sealed test_series test_series_noise test_skewed test_statistics
    test_stopping test_student test_study test_study_array test_study_laws test_study_retention
    test_study_utkface test_targets test_targets_sealed test_train_array
    test_train_array_sealed test_train_resume_sealed test_train_sealed
    test_trainer test_verdict)
  if(NOT TEST ${name})
    continue()
  endif()
  set_property(TEST ${name} APPEND PROPERTY LABELS slow)
  if(TARGET ${name})
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    add_dependencies(slow_tests ${name})
  endif()
endforeach()
