import type { DataCategory } from "./categories.ts";
import type { PeriodCode } from "./periods.ts";

/** Columns by the category of what they hold about a person; `none`: nothing. */
export type StoredTable = { until: PeriodCode } & { readonly [Category in DataCategory | "none"]?: string };

/** The tables with data about people. test/contract/stored-data.test.ts compares them with the database. */
export const storedColumns = {
  person: {
    until: "LEFT",
    id: "id",
    name: "first_full first_call last sort_key",
    role: "role",
    schools: "home_school_id",
    status: "status soft_deleted_at purge_at left_at retention_from seen_by blocked_at created_at updated_at",
    sourceSystemIdentifier: "source_system_identifier source_id_is_shared",
  },
  affiliation: { until: "WITH_PERSON", name: "sort_key", schools: "id person_id school_id" },
  membership: { until: "WITH_PERSON", groups: "group_id person_id school_id role" },
  retention_exemption: { until: "WITH_PERSON", status: "person_id until reason given_at" },
  tombstone: { until: "KEPT", remains: "person_id deleted_at" },
  pairwise_id: { until: "WITH_PERSON", id: "person_id record_id sector id is_unannounced" },
  id_move: {
    until: "MOVE",
    id: "announced_up_to read_up_to",
    none:
      "client_id state subject_type old_sector new_sector started_at cut_over_at people passed is_announced read " +
      "read_at forgotten_at leased_until",
  },

  credential: {
    until: "WITH_PERSON",
    login: "person_id username password_hash must_change generation has_signed_in forgotten_sign_in_at updated_at",
  },
  user_name: { until: "YEAR", remains: "hash person_id released_on" },
  user_name_number: { until: "YEAR", remains: "hash last used_on" },
  second_factor: {
    until: "WITH_PERSON",
    secondFactors:
      "id person_id kind label secret last_step credential_id public_key counter transports created_at last_used_at",
  },
  recovery_code: { until: "WITH_PERSON", secondFactors: "person_id hash" },
  login_card: {
    until: "CARD",
    loginCards:
      "id person_id school_id token_hash second_step second_step_hash wrong_answers created_at created_by_role " +
      "last_used_at revoked_at refused_at refused_for",
  },
  oidc_artifact: {
    until: "WITH_SIGN_IN",
    sessions:
      "kind id_hash payload client_id person_id generation card_id upstream_session_id grant_id session_uid " +
      "consumed_at replay expires_at",
  },
  upstream_link: {
    until: "WITH_PERSON",
    upstreamAccounts: "connection_id issuer subject person_id linked_at linked_by last_sign_in_at lacks_claim",
  },
  upstream_session: {
    until: "WITH_SIGN_IN",
    upstreamAccounts: "id connection_id sub sid person_id id_token created_at ended_at",
    none: "check_at",
  },
  upstream_recent_sign_in: {
    until: "MONTH",
    upstreamAccounts: "connection_id person_id claims at",
    none: "place",
  },
  upstream_refusal: {
    until: "MONTH",
    upstreamAccounts: "connection_id code subject_hash details mentions first_at last_at tries",
    none: "id",
  },
  upstream_set_up_link: {
    until: "MONTH",
    upstreamAccounts: "tested mentions",
    none: "id connection_id token_hash created_at created_by_role expires_at opened_at browser_hash closed_at tests",
  },
  consent: { until: "WITH_PERSON", sessions: "person_id client_id scopes granted_at" },
  school_choice: { until: "WITH_PERSON", sessions: "person_id client_id school_id" },
  logout_notice: {
    until: "UNTIL_TOLD",
    sessions: "id client_id person_id sid created_at",
    none: "attempts next_attempt_at",
  },
  void_sign_in: { until: "AT_ONCE", sessions: "person_id" },
  sign_in_place: { until: "DEVICE", devices: "person_id place last_used_at" },
  sign_in_brake: { until: "HALF_DAY", devices: "key failures wait_until forget_at person_id everywhere" },
  wrong_password: { until: "DAY", devices: "key hour person_id tries last_at" },
  rate_limit: { until: "HOUR", devices: "key full_at" },
  sign_in: { until: "WITH_PERSON", signIns: "client_id person_id first_sign_in_at last_sign_in_at" },

  disclosure_period: {
    until: "RECORDS",
    disclosures: "person_id client_id since until is_user is_person sees_school school_ids last_read_at",
  },
  data_request: {
    until: "RECORDS_WITHOUT_PERSON",
    dataRequests:
      "id school_id person_id asked_by received_on due_on extension extended_at exported_at outcome closed_at " +
      "closed_by_id closed_role",
  },
  app_event: {
    until: "EVENTS",
    notifications:
      "at client_id type action subject_id app_subject_id old_subject_id next_subject_id school_id updated_properties reason reason_until",
    none: "id seq position traceparent erasure_id",
  },
  erasure: {
    until: "ERASURES",
    notifications: "client_id subject_id school_id cause since state reason acknowledged_at",
    none: "id",
  },
  announced_sign_in: { until: "AT_ONCE", notifications: "person_id client_id at sight" },
  webhook_delivery: {
    until: "DELIVERIES",
    notifications: "endpoint_id event_type subject_id body created_at finished_at",
    none: "id message_id is_test state attempts attempts_spent due_at subject_fails traceparent",
  },
  webhook_attempt: {
    until: "DELIVERIES",
    notifications: "answer",
    none: "delivery_id number at duration_ms status error",
  },
  api_request: {
    until: "REQUEST_LOG",
    appRequests: "client_id at operation_id path status code message",
    none: "id request_id short_code duration_ms",
  },

  staged_person: {
    until: "WEEK",
    roster: "source_id school_id home_school_id role first_full first_call last sort_key username fields is_deleted",
    none: "import_id row line column record silent_about",
  },
  staged_role: {
    until: "WEEK",
    roster: "person_source_id school_id role is_primary is_deleted",
    none: "import_id row line column",
  },
  staged_membership: {
    until: "WEEK",
    roster: "school_id person_source_id group_source_id role is_deleted",
    none: "import_id row line person_column group_column",
  },
  import_faulty_row: { until: "WEEK", roster: "fields source_id group_source_ids", none: "import_id line" },
  import_error: {
    until: "WEEK",
    roster: "message line_text",
    none: "import_id row file line column record field code",
  },
  import_piece: { until: "WEEK", roster: "bytes", none: "import_id number" },
  import: {
    until: "IMPORTS",
    roster: "file_name upload",
    importHistory: "actor_id created_at applied_at undone_at",
    none:
      "id format mode people speaks_of state school_year error_count warning_count rows headings notes lease_holder lease_until " +
      "named_school_ids other_school_id other_school progress_phase progress_percent progress_at",
  },
  import_turn: {
    until: "WORK",
    importHistory: "actor_id",
    none: "import_id school_id is_reading is_small queued_at started_at seen_at school_served_at actor_served_at",
  },
  import_change: {
    until: "UNDO",
    importHistory: "subject_id person_id school_id before after",
    none: "import_id keep_until",
  },
  person_import: {
    until: "AUDIT",
    importHistory: "at person_id school_id change classes_before classes_after",
    none: "id import_id",
  },

  audit: {
    until: "AUDIT",
    audit: "at action actor_id client_id person_id school_id detail actor_role before after",
    none: "id request_id act_id",
  },
  staff_role: { until: "WITH_PERSON", staffRoles: "id role person_id reason ends_at given_at", none: "client_id" },
  staff_role_school: { until: "WITH_PERSON", staffRoles: "role_id school_id" },
  staff_role_app: { until: "WITH_PERSON", staffRoles: "role_id client_id" },
  credential_batch: {
    until: "DAY",
    tasks: "school_id caller group_ids roles created_at handed_out_at encrypted",
    none: "id new_passwords with_qr with_letters only_missing ready_at handed_out_key expires_at lease_until",
  },
  credential_batch_person: { until: "DAY", tasks: "batch_id person_id encrypted" },
  card_print: { until: "PRINTED", tasks: "caller encrypted created_at", none: "id" },
  password_request: { until: "WITH_PERSON", tasks: "person_id school_id requested_at" },
  merged_person: {
    until: "MONTH",
    id: "source_system_identifier",
    schools: "merger_id person_id was_home was_at_both",
  },
  handover_person: { until: "WITH_PERSON", tasks: "person_id handover_id" },
  idempotency_key: { until: "DAY", tasks: "caller answer named_ids created_at", none: "key request_hash status" },
  agreement_acceptance: {
    until: "WITH_SCHOOL",
    agreements: "accepted_at accepted_by accepted_role withdrawn_at withdrawn_by withdrawn_role",
    none: "id agreement_id client_id school_id attributes scopes withheld replaced_at",
  },
  agreement: {
    until: "AGREED",
    contacts: "text pdf",
    none: "id client_id version app_name provider sha256 bytes deletion_de deletion_en created_at published_at",
  },
  app_profile: {
    until: "WITH_APP",
    contacts: "support_address",
    none: "client_id provider description_de description_en purpose_de purpose_en privacy_url",
  },
} as const satisfies Readonly<Record<string, StoredTable>>;
