/** Tables that hold nothing about people, with all their columns: each new one is a decision. */
export const columnsWithoutPeople: Readonly<Record<string, string>> = {
  agreement_purpose: "agreement_id item required purpose_de purpose_en",
  agreement_subprocessor: "agreement_id place name country purpose",
  app:
    "client_id name type secret_hash old_secret_hash old_secret_ends_at token_endpoint_auth_method public_keys jwks_uri " +
    "pkce_required redirect_uris post_logout_redirect_uris login_url backchannel_logout_uri scopes default_scopes " +
    "scope_platform attributes id_token_algorithm schulconnex_spelling subject_type sector confirms_erasures " +
    "suspended_at suspension_reason created_at updated_at",
  app_logo: "client_id type hash bytes",
  card_settings:
    "school_id enabled grades hours_from hours_to weekdays networks second_step print_second_step updated_at",
  column_mapping: "school_id headings mapping used_at",
  event_feed: "id last_position swept_position history_began_at",
  figure: "metric step subject at outcome count",
  former_algorithm: "algorithm used_until",
  grant: "client_id school_id sign_on_audience sign_on_roles sync school_sort_key created_at updated_at",
  grant_sign_on_group: "client_id school_id group_id",
  group: "id school_id name sort_key natural_key type status source_system_identifier deleted_at created_at updated_at",
  group_carry_over: "school_id school_year previous_source_id source_id at",
  handover: "id from_school_id to_school_id state offered moved created_at expires_at closed_at",
  school_merger: "id from_school_id into_school_id people groups apps merged_at undo_until undone_at",
  merged_group: "merger_id group_id name source_system_identifier",
  merged_grant: "merger_id client_id is_new settings",
  merged_staff_role: "merger_id role_id",
  import_school:
    "import_id school_id state counts holds difference compared_at directory_version confirmed confirmed_people confirmed_groups applied_at undo_until changed_subjects",
  job_run: "name at duration_ms outcome done_at failures",
  last_call: "client_id school_id at",
  parent_letter: "school_id text",
  registration_period: "client_id since until name provider type scopes attributes",
  retention_check: "school_id check_at held_at held_people released_people",
  retention_policy:
    "id school_id state left_months left_from left_reason inactive_months inactive_roster inactive_reason restore_days " +
    "restore_reason audit_days audit_reason effective_at updated_at",
  retired_client_id: "client_id retired_at",
  sandbox: "id client_id created_at expires_at",
  sandbox_step: "sandbox_id step done_at",
  school:
    "id name sort_key official_id address address_addition city zip_code country state schooling_level created_at " +
    "updated_at sandbox_id",
  school_logo: "school_id type hash bytes",
  school_sign_in: "school_id user_name_rule password_kind must_change_password own_password_from_grade help_text",
  school_way_in: "school_id link_name local_passwords emergency_until",
  scope_request: "id client_id scopes reason state requested_at decided_at note",
  shared_secret: "name encrypted created_at",
  sign_on_step: "id client_id request_id short_code at attempt step outcome code description reason sent",
  signing_key: "kid algorithm state public_jwk encrypted_private created_at activated_at retired_at",
  staged_group:
    "import_id row line column source_id school_id name sort_key type previous_source_id may_mean is_deleted",
  synced_group: "client_id school_id group_id",
  upstream_connection:
    "id school_id profile name issuer client_id client_secret secret_expires_at token_endpoint_auth_method scopes tenant " +
    "school_claim school_value subject_claim rule_claim rule_field normalisations state group_ids creates_guests confirmed_for_staff " +
    "trusted_for_second_factor ends_upstream_session metadata metadata_read_at keys keys_read_at refresh_at tested_at last_success_at failing_since " +
    "last_failure last_failure_at created_at updated_at",
  upstream_round_trip: "state_hash connection_id browser_hash purpose details expires_at",
  user_name_key: "id key",
  view_version: "subject change version changed_at source_read_at",
  webhook_endpoint:
    "id client_id url event_types state reason state_changed_at resume_at try_new_at failures failing_since listens_until " +
    "leased_by leased_until created_at updated_at",
  webhook_fan_out: "id position",
  webhook_secret: "id endpoint_id sealed created_at expires_at",
  withheld_period: "client_id school_id item reason since until",
  withheld_item: "client_id item school_id reason since",
};
