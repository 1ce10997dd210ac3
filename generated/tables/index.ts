// Made by `npm run generate` from prisma/schema. Do not edit.

/** Tables by name, with their columns by field. */
export const tables = {
  app: {
    name: "app",
    columns: {
      clientId: "client_id",
      name: "name",
      type: "type",
      secretHash: "secret_hash",
      oldSecretHash: "old_secret_hash",
      oldSecretEndsAt: "old_secret_ends_at",
      tokenEndpointAuthMethod: "token_endpoint_auth_method",
      publicKeys: "public_keys",
      jwksUri: "jwks_uri",
      pkceRequired: "pkce_required",
      redirectUris: "redirect_uris",
      postLogoutRedirectUris: "post_logout_redirect_uris",
      loginUrl: "login_url",
      backchannelLogoutUri: "backchannel_logout_uri",
      scopes: "scopes",
      defaultScopes: "default_scopes",
      scopePlatform: "scope_platform",
      attributes: "attributes",
      idTokenAlgorithm: "id_token_algorithm",
      schulconnexSpelling: "schulconnex_spelling",
      subjectType: "subject_type",
      sector: "sector",
      confirmsErasures: "confirms_erasures",
      suspendedAt: "suspended_at",
      suspensionReason: "suspension_reason",
      createdAt: "created_at",
      updatedAt: "updated_at",
    },
  },
  pairwiseId: {
    name: "pairwise_id",
    columns: {
      personId: "person_id",
      recordId: "record_id",
      sector: "sector",
      id: "id",
      isUnannounced: "is_unannounced",
    },
  },
  erasure: {
    name: "erasure",
    columns: {
      id: "id",
      clientId: "client_id",
      subjectId: "subject_id",
      schoolId: "school_id",
      cause: "cause",
      since: "since",
      state: "state",
      reason: "reason",
      acknowledgedAt: "acknowledged_at",
    },
  },
  idMove: {
    name: "id_move",
    columns: {
      clientId: "client_id",
      state: "state",
      subjectType: "subject_type",
      oldSector: "old_sector",
      newSector: "new_sector",
      startedAt: "started_at",
      cutOverAt: "cut_over_at",
      people: "people",
      announcedUpTo: "announced_up_to",
      passed: "passed",
      isAnnounced: "is_announced",
      readUpTo: "read_up_to",
      read: "read",
      readAt: "read_at",
      forgottenAt: "forgotten_at",
      leasedUntil: "leased_until",
    },
  },
  agreement: {
    name: "agreement",
    columns: {
      id: "id",
      clientId: "client_id",
      version: "version",
      appName: "app_name",
      provider: "provider",
      text: "text",
      pdf: "pdf",
      sha256: "sha256",
      bytes: "bytes",
      deletionDe: "deletion_de",
      deletionEn: "deletion_en",
      createdAt: "created_at",
      publishedAt: "published_at",
    },
  },
  appLogo: {
    name: "app_logo",
    columns: {
      clientId: "client_id",
      type: "type",
      hash: "hash",
      bytes: "bytes",
    },
  },
  appProfile: {
    name: "app_profile",
    columns: {
      clientId: "client_id",
      provider: "provider",
      descriptionDe: "description_de",
      descriptionEn: "description_en",
      purposeDe: "purpose_de",
      purposeEn: "purpose_en",
      privacyUrl: "privacy_url",
      supportAddress: "support_address",
    },
  },
  agreementSubprocessor: {
    name: "agreement_subprocessor",
    columns: {
      agreementId: "agreement_id",
      place: "place",
      name: "name",
      country: "country",
      purpose: "purpose",
    },
  },
  agreementPurpose: {
    name: "agreement_purpose",
    columns: {
      agreementId: "agreement_id",
      item: "item",
      required: "required",
      purposeDe: "purpose_de",
      purposeEn: "purpose_en",
    },
  },
  agreementAcceptance: {
    name: "agreement_acceptance",
    columns: {
      id: "id",
      agreementId: "agreement_id",
      clientId: "client_id",
      schoolId: "school_id",
      acceptedAt: "accepted_at",
      acceptedBy: "accepted_by",
      acceptedRole: "accepted_role",
      attributes: "attributes",
      scopes: "scopes",
      withheld: "withheld",
      replacedAt: "replaced_at",
      withdrawnAt: "withdrawn_at",
      withdrawnBy: "withdrawn_by",
      withdrawnRole: "withdrawn_role",
    },
  },
  withheldItem: {
    name: "withheld_item",
    columns: {
      clientId: "client_id",
      item: "item",
      schoolId: "school_id",
      reason: "reason",
      since: "since",
    },
  },
  scopeRequest: {
    name: "scope_request",
    columns: {
      id: "id",
      clientId: "client_id",
      scopes: "scopes",
      reason: "reason",
      state: "state",
      requestedAt: "requested_at",
      decidedAt: "decided_at",
      note: "note",
    },
  },
  retiredClientId: {
    name: "retired_client_id",
    columns: {
      clientId: "client_id",
      retiredAt: "retired_at",
    },
  },
  formerAlgorithm: {
    name: "former_algorithm",
    columns: {
      algorithm: "algorithm",
      usedUntil: "used_until",
    },
  },
  grant: {
    name: "\"grant\"",
    columns: {
      clientId: "client_id",
      schoolId: "school_id",
      signOnAudience: "sign_on_audience",
      signOnRoles: "sign_on_roles",
      sync: "sync",
      schoolSortKey: "school_sort_key",
      createdAt: "created_at",
      updatedAt: "updated_at",
    },
  },
  syncedGroup: {
    name: "synced_group",
    columns: {
      clientId: "client_id",
      schoolId: "school_id",
      groupId: "group_id",
    },
  },
  grantSignOnGroup: {
    name: "grant_sign_on_group",
    columns: {
      clientId: "client_id",
      schoolId: "school_id",
      groupId: "group_id",
    },
  },
  signIn: {
    name: "sign_in",
    columns: {
      clientId: "client_id",
      personId: "person_id",
      firstSignInAt: "first_sign_in_at",
      lastSignInAt: "last_sign_in_at",
    },
  },
  accessReport: {
    name: "access_report",
    columns: {
      id: "id",
      clientId: "client_id",
      schoolId: "school_id",
      personId: "person_id",
      month: "month",
      reportedAt: "reported_at",
      isNewest: "is_newest",
      type: "type",
      identifier: "identifier",
      since: "since",
      until: "until",
      trial: "trial",
    },
  },
  seat: {
    name: "seat",
    columns: {
      month: "month",
      clientId: "client_id",
      schoolId: "school_id",
      change: "change",
      signedIn: "signed_in",
      synced: "synced",
    },
  },
  disclosurePeriod: {
    name: "disclosure_period",
    columns: {
      personId: "person_id",
      clientId: "client_id",
      since: "since",
      until: "until",
      isUser: "is_user",
      isPerson: "is_person",
      seesSchool: "sees_school",
      schoolIds: "school_ids",
      lastReadAt: "last_read_at",
    },
  },
  registrationPeriod: {
    name: "registration_period",
    columns: {
      clientId: "client_id",
      since: "since",
      until: "until",
      name: "name",
      provider: "provider",
      type: "type",
      scopes: "scopes",
      attributes: "attributes",
    },
  },
  withheldPeriod: {
    name: "withheld_period",
    columns: {
      clientId: "client_id",
      schoolId: "school_id",
      item: "item",
      reason: "reason",
      since: "since",
      until: "until",
    },
  },
  lastCall: {
    name: "last_call",
    columns: {
      clientId: "client_id",
      schoolId: "school_id",
      at: "at",
    },
  },
  announcedSignIn: {
    name: "announced_sign_in",
    columns: {
      personId: "person_id",
      clientId: "client_id",
      at: "at",
      snapshot: "sight",
    },
  },
  viewVersion: {
    name: "view_version",
    columns: {
      subject: "subject",
      change: "change",
      version: "version",
      changedAt: "changed_at",
      sourceReadAt: "source_read_at",
    },
  },
  sandbox: {
    name: "sandbox",
    columns: {
      id: "id",
      clientId: "client_id",
      createdAt: "created_at",
      expiresAt: "expires_at",
    },
  },
  sandboxStep: {
    name: "sandbox_step",
    columns: {
      sandboxId: "sandbox_id",
      step: "step",
      doneAt: "done_at",
    },
  },
  mergedGrant: {
    name: "merged_grant",
    columns: {
      mergerId: "merger_id",
      clientId: "client_id",
      isNew: "is_new",
      settings: "settings",
    },
  },
  rosterConnection: {
    name: "roster_connection",
    columns: {
      id: "id",
      name: "name",
      kind: "kind",
      settings: "settings",
      secret: "secret",
      state: "state",
      times: "times",
      daysOff: "days_off",
      pauseFrom: "pause_from",
      pauseUntil: "pause_until",
      applies: "applies",
      notifyAddresses: "notify_addresses",
      nextRunAt: "next_run_at",
      leaseHolder: "lease_holder",
      leaseUntil: "lease_until",
      failures: "failures",
      failingSince: "failing_since",
      lastFailure: "last_failure",
      isTold: "is_told",
      digest: "digest",
      validator: "validator",
      createdAt: "created_at",
      updatedAt: "updated_at",
    },
  },
  rosterConnectionSchool: {
    name: "roster_connection_school",
    columns: {
      connectionId: "connection_id",
      schoolId: "school_id",
    },
  },
  rosterRun: {
    name: "roster_run",
    columns: {
      id: "id",
      connectionId: "connection_id",
      trigger: "trigger",
      outcome: "outcome",
      failure: "failure",
      detail: "detail",
      counts: "counts",
      importId: "import_id",
      replacedImportId: "replaced_import_id",
      startedAt: "started_at",
      endedAt: "ended_at",
      notice: "notice",
      noticeDueAt: "notice_due_at",
      noticeTries: "notice_tries",
      noticeTold: "notice_told",
    },
  },
  school: {
    name: "school",
    columns: {
      id: "id",
      name: "name",
      sortKey: "sort_key",
      officialId: "official_id",
      address: "address",
      addressAddition: "address_addition",
      city: "city",
      zipCode: "zip_code",
      country: "country",
      state: "state",
      schoolingLevel: "schooling_level",
      createdAt: "created_at",
      updatedAt: "updated_at",
      sandboxId: "sandbox_id",
    },
  },
  schoolLogo: {
    name: "school_logo",
    columns: {
      schoolId: "school_id",
      type: "type",
      hash: "hash",
      bytes: "bytes",
    },
  },
  person: {
    name: "person",
    columns: {
      id: "id",
      homeSchoolId: "home_school_id",
      role: "role",
      status: "status",
      firstFull: "first_full",
      firstCall: "first_call",
      last: "last",
      sortKey: "sort_key",
      sourceSystemIdentifier: "source_system_identifier",
      sourceIdIsShared: "source_id_is_shared",
      softDeletedAt: "soft_deleted_at",
      purgeAt: "purge_at",
      leftAt: "left_at",
      retentionFrom: "retention_from",
      seenBy: "seen_by",
      blockedAt: "blocked_at",
      createdAt: "created_at",
      updatedAt: "updated_at",
    },
  },
  affiliation: {
    name: "affiliation",
    columns: {
      id: "id",
      personId: "person_id",
      schoolId: "school_id",
      sortKey: "sort_key",
    },
  },
  group: {
    name: "\"group\"",
    columns: {
      id: "id",
      schoolId: "school_id",
      name: "name",
      sortKey: "sort_key",
      naturalKey: "natural_key",
      type: "type",
      status: "status",
      sourceSystemIdentifier: "source_system_identifier",
      deletedAt: "deleted_at",
      createdAt: "created_at",
      updatedAt: "updated_at",
    },
  },
  membership: {
    name: "membership",
    columns: {
      groupId: "group_id",
      personId: "person_id",
      schoolId: "school_id",
      role: "role",
    },
  },
  tombstone: {
    name: "tombstone",
    columns: {
      personId: "person_id",
      deletedAt: "deleted_at",
    },
  },
  handover: {
    name: "handover",
    columns: {
      id: "id",
      fromSchoolId: "from_school_id",
      toSchoolId: "to_school_id",
      state: "state",
      offered: "offered",
      moved: "moved",
      createdAt: "created_at",
      expiresAt: "expires_at",
      closedAt: "closed_at",
    },
  },
  schoolMerger: {
    name: "school_merger",
    columns: {
      id: "id",
      fromSchoolId: "from_school_id",
      intoSchoolId: "into_school_id",
      people: "people",
      groups: "groups",
      apps: "apps",
      mergedAt: "merged_at",
      undoUntil: "undo_until",
      undoneAt: "undone_at",
    },
  },
  mergedPerson: {
    name: "merged_person",
    columns: {
      mergerId: "merger_id",
      personId: "person_id",
      wasHome: "was_home",
      wasAtBoth: "was_at_both",
      sourceSystemIdentifier: "source_system_identifier",
    },
  },
  mergedGroup: {
    name: "merged_group",
    columns: {
      mergerId: "merger_id",
      groupId: "group_id",
      name: "name",
      sourceSystemIdentifier: "source_system_identifier",
    },
  },
  dataRequest: {
    name: "data_request",
    columns: {
      id: "id",
      schoolId: "school_id",
      personId: "person_id",
      askedBy: "asked_by",
      receivedOn: "received_on",
      dueOn: "due_on",
      extension: "extension",
      extendedAt: "extended_at",
      exportedAt: "exported_at",
      outcome: "outcome",
      closedAt: "closed_at",
      closedById: "closed_by_id",
      closedRole: "closed_role",
    },
  },
  handoverPerson: {
    name: "handover_person",
    columns: {
      personId: "person_id",
      handoverId: "handover_id",
    },
  },
  retentionPolicy: {
    name: "retention_policy",
    columns: {
      id: "id",
      schoolId: "school_id",
      state: "state",
      leftMonths: "left_months",
      leftFrom: "left_from",
      leftReason: "left_reason",
      inactiveMonths: "inactive_months",
      inactiveRoster: "inactive_roster",
      inactiveReason: "inactive_reason",
      restoreDays: "restore_days",
      restoreReason: "restore_reason",
      auditDays: "audit_days",
      auditReason: "audit_reason",
      effectiveAt: "effective_at",
      updatedAt: "updated_at",
    },
  },
  retentionCheck: {
    name: "retention_check",
    columns: {
      schoolId: "school_id",
      checkAt: "check_at",
      heldAt: "held_at",
      heldPeople: "held_people",
      releasedPeople: "released_people",
    },
  },
  retentionExemption: {
    name: "retention_exemption",
    columns: {
      personId: "person_id",
      until: "until",
      reason: "reason",
      givenAt: "given_at",
    },
  },
  audit: {
    name: "audit",
    columns: {
      id: "id",
      at: "at",
      action: "action",
      actorId: "actor_id",
      clientId: "client_id",
      personId: "person_id",
      schoolId: "school_id",
      requestId: "request_id",
      detail: "detail",
      actorRole: "actor_role",
      before: "before",
      after: "after",
      actId: "act_id",
    },
  },
  appEvent: {
    name: "app_event",
    columns: {
      id: "id",
      seq: "seq",
      position: "position",
      at: "at",
      clientId: "client_id",
      type: "type",
      action: "action",
      subjectId: "subject_id",
      appSubjectId: "app_subject_id",
      erasureId: "erasure_id",
      nextSubjectId: "next_subject_id",
      oldSubjectId: "old_subject_id",
      schoolId: "school_id",
      updatedProperties: "updated_properties",
      reason: "reason",
      reasonUntil: "reason_until",
      traceparent: "traceparent",
    },
  },
  eventFeed: {
    name: "event_feed",
    columns: {
      id: "id",
      lastPosition: "last_position",
      sweptPosition: "swept_position",
      historyBeganAt: "history_began_at",
    },
  },
  stagedPerson: {
    name: "staged_person",
    columns: {
      importId: "import_id",
      row: "row",
      line: "line",
      column: "\"column\"",
      record: "record",
      sourceId: "source_id",
      schoolId: "school_id",
      homeSchoolId: "home_school_id",
      role: "role",
      firstFull: "first_full",
      firstCall: "first_call",
      last: "last",
      sortKey: "sort_key",
      username: "username",
      fields: "fields",
      silentAbout: "silent_about",
      isDeleted: "is_deleted",
    },
  },
  stagedRole: {
    name: "staged_role",
    columns: {
      importId: "import_id",
      row: "row",
      line: "line",
      column: "\"column\"",
      personSourceId: "person_source_id",
      schoolId: "school_id",
      role: "role",
      isPrimary: "is_primary",
      isDeleted: "is_deleted",
    },
  },
  importSchool: {
    name: "import_school",
    columns: {
      importId: "import_id",
      schoolId: "school_id",
      state: "state",
      counts: "counts",
      holds: "holds",
      difference: "difference",
      comparedAt: "compared_at",
      directoryVersion: "directory_version",
      confirmed: "confirmed",
      confirmedPeople: "confirmed_people",
      confirmedGroups: "confirmed_groups",
      appliedAt: "applied_at",
      undoUntil: "undo_until",
      changedSubjects: "changed_subjects",
    },
  },
  stagedMembership: {
    name: "staged_membership",
    columns: {
      importId: "import_id",
      row: "row",
      line: "line",
      personColumn: "person_column",
      groupColumn: "group_column",
      schoolId: "school_id",
      personSourceId: "person_source_id",
      groupSourceId: "group_source_id",
      role: "role",
      isDeleted: "is_deleted",
    },
  },
  importFaultyRow: {
    name: "import_faulty_row",
    columns: {
      importId: "import_id",
      line: "line",
      fields: "fields",
      sourceId: "source_id",
      groupSourceIds: "group_source_ids",
    },
  },
  importError: {
    name: "import_error",
    columns: {
      importId: "import_id",
      row: "row",
      file: "file",
      line: "line",
      column: "\"column\"",
      record: "record",
      field: "field",
      code: "code",
      message: "message",
      lineText: "line_text",
    },
  },
  columnMapping: {
    name: "column_mapping",
    columns: {
      schoolId: "school_id",
      headings: "headings",
      mapping: "mapping",
      usedAt: "used_at",
    },
  },
  importPiece: {
    name: "import_piece",
    columns: {
      importId: "import_id",
      number: "number",
      bytes: "bytes",
    },
  },
  import: {
    name: "import",
    columns: {
      id: "id",
      format: "format",
      mode: "mode",
      people: "people",
      speaksOf: "speaks_of",
      state: "state",
      fileName: "file_name",
      schoolYear: "school_year",
      errorCount: "error_count",
      warningCount: "warning_count",
      rows: "rows",
      headings: "headings",
      notes: "notes",
      actorId: "actor_id",
      createdAt: "created_at",
      appliedAt: "applied_at",
      undoneAt: "undone_at",
      leaseHolder: "lease_holder",
      leaseUntil: "lease_until",
      namedSchoolIds: "named_school_ids",
      otherSchoolId: "other_school_id",
      otherSchool: "other_school",
      progressPhase: "progress_phase",
      progressPercent: "progress_percent",
      progressAt: "progress_at",
      upload: "upload",
    },
  },
  importTurn: {
    name: "import_turn",
    columns: {
      importId: "import_id",
      actorId: "actor_id",
      schoolId: "school_id",
      isReading: "is_reading",
      isSmall: "is_small",
      queuedAt: "queued_at",
      startedAt: "started_at",
      seenAt: "seen_at",
      schoolServedAt: "school_served_at",
      actorServedAt: "actor_served_at",
    },
  },
  importChange: {
    name: "import_change",
    columns: {
      importId: "import_id",
      subjectId: "subject_id",
      personId: "person_id",
      schoolId: "school_id",
      before: "before",
      after: "after",
      keepUntil: "keep_until",
    },
  },
  stagedGroup: {
    name: "staged_group",
    columns: {
      importId: "import_id",
      row: "row",
      line: "line",
      column: "\"column\"",
      sourceId: "source_id",
      schoolId: "school_id",
      name: "name",
      sortKey: "sort_key",
      type: "type",
      previousSourceId: "previous_source_id",
      mayMean: "may_mean",
      isDeleted: "is_deleted",
    },
  },
  personImport: {
    name: "person_import",
    columns: {
      id: "id",
      at: "at",
      personId: "person_id",
      schoolId: "school_id",
      importId: "import_id",
      change: "change",
      classesBefore: "classes_before",
      classesAfter: "classes_after",
    },
  },
  groupCarryOver: {
    name: "group_carry_over",
    columns: {
      schoolId: "school_id",
      schoolYear: "school_year",
      previousSourceId: "previous_source_id",
      sourceId: "source_id",
      at: "at",
    },
  },
  credential: {
    name: "credential",
    columns: {
      personId: "person_id",
      username: "username",
      passwordHash: "password_hash",
      mustChange: "must_change",
      generation: "generation",
      hasSignedIn: "has_signed_in",
      forgottenSignInAt: "forgotten_sign_in_at",
      passkeyDeclinedAt: "passkey_declined_at",
      updatedAt: "updated_at",
    },
  },
  passwordRequest: {
    name: "password_request",
    columns: {
      personId: "person_id",
      schoolId: "school_id",
      requestedAt: "requested_at",
    },
  },
  userName: {
    name: "user_name",
    columns: {
      hash: "hash",
      personId: "person_id",
      releasedOn: "released_on",
    },
  },
  userNameNumber: {
    name: "user_name_number",
    columns: {
      hash: "hash",
      last: "last",
      usedOn: "used_on",
    },
  },
  userNameKey: {
    name: "user_name_key",
    columns: {
      id: "id",
      key: "key",
    },
  },
  schoolSignIn: {
    name: "school_sign_in",
    columns: {
      schoolId: "school_id",
      userNameRule: "user_name_rule",
      passwordKind: "password_kind",
      mustChangePassword: "must_change_password",
      ownPasswordFromGrade: "own_password_from_grade",
      helpText: "help_text",
      passkeys: "passkeys",
      passkeysFromGrade: "passkeys_from_grade",
      pupilSessionHours: "pupil_session_hours",
      staffSessionHours: "staff_session_hours",
      staySignedInDays: "stay_signed_in_days",
      staySignedInFromGrade: "stay_signed_in_from_grade",
    },
  },
  oidcArtifact: {
    name: "oidc_artifact",
    columns: {
      kind: "kind",
      idHash: "id_hash",
      payload: "payload",
      clientId: "client_id",
      personId: "person_id",
      generation: "generation",
      cardId: "card_id",
      upstreamSessionId: "upstream_session_id",
      grantId: "grant_id",
      sessionUid: "session_uid",
      consumedAt: "consumed_at",
      replay: "replay",
      expiresAt: "expires_at",
    },
  },
  consent: {
    name: "consent",
    columns: {
      personId: "person_id",
      clientId: "client_id",
      scopes: "scopes",
      grantedAt: "granted_at",
    },
  },
  schoolChoice: {
    name: "school_choice",
    columns: {
      personId: "person_id",
      clientId: "client_id",
      schoolId: "school_id",
    },
  },
  logoutNotice: {
    name: "logout_notice",
    columns: {
      id: "id",
      clientId: "client_id",
      personId: "person_id",
      sid: "sid",
      attempts: "attempts",
      nextAttemptAt: "next_attempt_at",
      createdAt: "created_at",
    },
  },
  voidSignIn: {
    name: "void_sign_in",
    columns: {
      personId: "person_id",
    },
  },
  signingKey: {
    name: "signing_key",
    columns: {
      kid: "kid",
      algorithm: "algorithm",
      state: "state",
      publicJwk: "public_jwk",
      encryptedPrivate: "encrypted_private",
      createdAt: "created_at",
      activatedAt: "activated_at",
      retiredAt: "retired_at",
    },
  },
  sharedSecret: {
    name: "shared_secret",
    columns: {
      name: "name",
      encrypted: "encrypted",
      createdAt: "created_at",
    },
  },
  signInPlace: {
    name: "sign_in_place",
    columns: {
      personId: "person_id",
      device: "place",
      lastUsedAt: "last_used_at",
    },
  },
  signInBrake: {
    name: "sign_in_brake",
    columns: {
      key: "key",
      failures: "failures",
      waitUntil: "wait_until",
      forgetAt: "forget_at",
      personId: "person_id",
      everywhere: "everywhere",
    },
  },
  wrongPassword: {
    name: "wrong_password",
    columns: {
      key: "key",
      hour: "hour",
      personId: "person_id",
      tries: "tries",
      lastAt: "last_at",
    },
  },
  rateLimit: {
    name: "rate_limit",
    columns: {
      key: "key",
      fullAt: "full_at",
    },
  },
  cardSettings: {
    name: "card_settings",
    columns: {
      schoolId: "school_id",
      enabled: "enabled",
      grades: "grades",
      hoursFrom: "hours_from",
      hoursTo: "hours_to",
      weekdays: "weekdays",
      networks: "networks",
      secondStep: "second_step",
      printSecondStep: "print_second_step",
      pictureCodeUpToGrade: "picture_code_up_to_grade",
      classLists: "class_lists",
      updatedAt: "updated_at",
    },
  },
  loginCard: {
    name: "login_card",
    columns: {
      id: "id",
      personId: "person_id",
      schoolId: "school_id",
      tokenHash: "token_hash",
      secondStep: "second_step",
      secondStepHash: "second_step_hash",
      wrongAnswers: "wrong_answers",
      createdAt: "created_at",
      createdByRole: "created_by_role",
      lastUsedAt: "last_used_at",
      revokedAt: "revoked_at",
      refusedAt: "refused_at",
      refusedFor: "refused_for",
    },
  },
  parentLetter: {
    name: "parent_letter",
    columns: {
      schoolId: "school_id",
      text: "text",
    },
  },
  credentialBatch: {
    name: "credential_batch",
    columns: {
      id: "id",
      schoolId: "school_id",
      caller: "caller",
      groupIds: "group_ids",
      roles: "roles",
      newPasswords: "new_passwords",
      withQr: "with_qr",
      withLetters: "with_letters",
      onlyMissing: "only_missing",
      createdAt: "created_at",
      readyAt: "ready_at",
      handedOutAt: "handed_out_at",
      handedOutKey: "handed_out_key",
      expiresAt: "expires_at",
      encrypted: "encrypted",
      leaseUntil: "lease_until",
    },
  },
  credentialBatchPerson: {
    name: "credential_batch_person",
    columns: {
      batchId: "batch_id",
      personId: "person_id",
      encrypted: "encrypted",
    },
  },
  pictureCode: {
    name: "picture_code",
    columns: {
      personId: "person_id",
      schoolId: "school_id",
      hash: "hash",
      wrongTries: "wrong_tries",
      chosenAt: "chosen_at",
    },
  },
  classList: {
    name: "class_list",
    columns: {
      id: "id",
      groupId: "group_id",
      codeHash: "code_hash",
      endsAt: "ends_at",
    },
  },
  cardPrint: {
    name: "card_print",
    columns: {
      id: "id",
      caller: "caller",
      encrypted: "encrypted",
      createdAt: "created_at",
    },
  },
  secondFactor: {
    name: "second_factor",
    columns: {
      id: "id",
      personId: "person_id",
      kind: "kind",
      label: "label",
      secret: "secret",
      lastStep: "last_step",
      credentialId: "credential_id",
      publicKey: "public_key",
      counter: "counter",
      transports: "transports",
      isAsked: "is_asked",
      createdAt: "created_at",
      lastUsedAt: "last_used_at",
    },
  },
  recoveryCode: {
    name: "recovery_code",
    columns: {
      personId: "person_id",
      hash: "hash",
    },
  },
  staffRole: {
    name: "staff_role",
    columns: {
      id: "id",
      role: "role",
      personId: "person_id",
      clientId: "client_id",
      reason: "reason",
      endsAt: "ends_at",
      givenAt: "given_at",
    },
  },
  staffRoleSchool: {
    name: "staff_role_school",
    columns: {
      roleId: "role_id",
      schoolId: "school_id",
    },
  },
  staffRoleApp: {
    name: "staff_role_app",
    columns: {
      roleId: "role_id",
      clientId: "client_id",
    },
  },
  idempotencyKey: {
    name: "idempotency_key",
    columns: {
      caller: "caller",
      key: "key",
      requestHash: "request_hash",
      status: "status",
      answer: "answer",
      namedIds: "named_ids",
      createdAt: "created_at",
    },
  },
  mergedStaffRole: {
    name: "merged_staff_role",
    columns: {
      mergerId: "merger_id",
      roleId: "role_id",
    },
  },
  figure: {
    name: "figure",
    columns: {
      metric: "metric",
      step: "step",
      subject: "subject",
      at: "at",
      outcome: "outcome",
      count: "count",
    },
  },
  jobRun: {
    name: "job_run",
    columns: {
      name: "name",
      at: "at",
      durationMs: "duration_ms",
      outcome: "outcome",
      doneAt: "done_at",
      failures: "failures",
    },
  },
  apiRequest: {
    name: "api_request",
    columns: {
      id: "id",
      clientId: "client_id",
      requestId: "request_id",
      shortCode: "short_code",
      at: "at",
      operationId: "operation_id",
      path: "path",
      status: "status",
      code: "code",
      message: "message",
      durationMs: "duration_ms",
    },
  },
  signOnStep: {
    name: "sign_on_step",
    columns: {
      id: "id",
      clientId: "client_id",
      requestId: "request_id",
      shortCode: "short_code",
      at: "at",
      attempt: "attempt",
      step: "step",
      outcome: "outcome",
      code: "code",
      description: "description",
      reason: "reason",
      sent: "sent",
    },
  },
  upstreamConnection: {
    name: "upstream_connection",
    columns: {
      id: "id",
      schoolId: "school_id",
      profile: "profile",
      name: "name",
      issuer: "issuer",
      clientId: "client_id",
      clientSecret: "client_secret",
      secretExpiresAt: "secret_expires_at",
      authMethod: "token_endpoint_auth_method",
      scopes: "scopes",
      tenant: "tenant",
      schoolClaim: "school_claim",
      schoolValue: "school_value",
      subjectClaim: "subject_claim",
      ruleClaim: "rule_claim",
      ruleField: "rule_field",
      normalisations: "normalisations",
      state: "state",
      groupIds: "group_ids",
      createsGuests: "creates_guests",
      confirmedForStaff: "confirmed_for_staff",
      trustedForSecondFactor: "trusted_for_second_factor",
      endsUpstreamSession: "ends_upstream_session",
      metadata: "metadata",
      metadataReadAt: "metadata_read_at",
      keys: "keys",
      keysReadAt: "keys_read_at",
      refreshAt: "refresh_at",
      testedAt: "tested_at",
      lastSuccessAt: "last_success_at",
      failingSince: "failing_since",
      lastFailure: "last_failure",
      lastFailureAt: "last_failure_at",
      createdAt: "created_at",
      updatedAt: "updated_at",
    },
  },
  upstreamLink: {
    name: "upstream_link",
    columns: {
      connectionId: "connection_id",
      issuer: "issuer",
      subject: "subject",
      personId: "person_id",
      linkedAt: "linked_at",
      linkedBy: "linked_by",
      lastSignInAt: "last_sign_in_at",
      lacksClaim: "lacks_claim",
    },
  },
  upstreamSession: {
    name: "upstream_session",
    columns: {
      id: "id",
      connectionId: "connection_id",
      sub: "sub",
      sid: "sid",
      personId: "person_id",
      idToken: "id_token",
      createdAt: "created_at",
      endedAt: "ended_at",
      checkAt: "check_at",
    },
  },
  upstreamRoundTrip: {
    name: "upstream_round_trip",
    columns: {
      stateHash: "state_hash",
      connectionId: "connection_id",
      browserHash: "browser_hash",
      purpose: "purpose",
      details: "details",
      expiresAt: "expires_at",
    },
  },
  upstreamRecentSignIn: {
    name: "upstream_recent_sign_in",
    columns: {
      connectionId: "connection_id",
      place: "place",
      personId: "person_id",
      claims: "claims",
      at: "at",
    },
  },
  upstreamRefusal: {
    name: "upstream_refusal",
    columns: {
      id: "id",
      connectionId: "connection_id",
      code: "code",
      subjectHash: "subject_hash",
      details: "details",
      firstAt: "first_at",
      lastAt: "last_at",
      tries: "tries",
      mentions: "mentions",
    },
  },
  upstreamSetUpLink: {
    name: "upstream_set_up_link",
    columns: {
      id: "id",
      connectionId: "connection_id",
      tokenHash: "token_hash",
      createdAt: "created_at",
      createdByRole: "created_by_role",
      expiresAt: "expires_at",
      openedAt: "opened_at",
      browserHash: "browser_hash",
      closedAt: "closed_at",
      tests: "tests",
      tested: "tested",
      mentions: "mentions",
    },
  },
  schoolWayIn: {
    name: "school_way_in",
    columns: {
      schoolId: "school_id",
      linkName: "link_name",
      localPasswords: "local_passwords",
      emergencyUntil: "emergency_until",
    },
  },
  webhookEndpoint: {
    name: "webhook_endpoint",
    columns: {
      id: "id",
      clientId: "client_id",
      url: "url",
      eventTypes: "event_types",
      state: "state",
      reason: "reason",
      stateChangedAt: "state_changed_at",
      resumeAt: "resume_at",
      tryNewAt: "try_new_at",
      failures: "failures",
      failingSince: "failing_since",
      listensUntil: "listens_until",
      leasedBy: "leased_by",
      leasedUntil: "leased_until",
      createdAt: "created_at",
      updatedAt: "updated_at",
    },
  },
  webhookSecret: {
    name: "webhook_secret",
    columns: {
      id: "id",
      endpointId: "endpoint_id",
      sealed: "sealed",
      createdAt: "created_at",
      expiresAt: "expires_at",
    },
  },
  webhookDelivery: {
    name: "webhook_delivery",
    columns: {
      id: "id",
      messageId: "message_id",
      endpointId: "endpoint_id",
      eventType: "event_type",
      subjectId: "subject_id",
      isTest: "is_test",
      body: "body",
      state: "state",
      attempts: "attempts",
      attemptsSpent: "attempts_spent",
      dueAt: "due_at",
      subjectFails: "subject_fails",
      createdAt: "created_at",
      finishedAt: "finished_at",
      traceparent: "traceparent",
    },
  },
  webhookAttempt: {
    name: "webhook_attempt",
    columns: {
      deliveryId: "delivery_id",
      number: "number",
      at: "at",
      durationMs: "duration_ms",
      status: "status",
      answer: "answer",
      error: "error",
    },
  },
  webhookFanOut: {
    name: "webhook_fan_out",
    columns: {
      id: "id",
      position: "position",
    },
  },
} as const;

/** Rows as pg answers them, by field. */
export type Rows = {
  app: {
    clientId: string;
    name: string;
    type: "CONFIDENTIAL" | "PUBLIC";
    secretHash: Buffer | null;
    oldSecretHash: Buffer | null;
    oldSecretEndsAt: Date | null;
    tokenEndpointAuthMethod: "client_secret_basic" | "client_secret_post" | "private_key_jwt";
    publicKeys: unknown;
    jwksUri: string | null;
    pkceRequired: boolean;
    redirectUris: string[];
    postLogoutRedirectUris: string[];
    loginUrl: string | null;
    backchannelLogoutUri: string | null;
    scopes: string[];
    defaultScopes: string[];
    scopePlatform: string | null;
    attributes: ("SCHOOL_ADDRESS" | "SCHOOL_LOCATION" | "SCHOOL_OFFICIAL_ID" | "SCHOOLING_LEVEL" | "PERSON_NAME" | "SOURCE_SYSTEM_IDENTIFIER")[];
    idTokenAlgorithm: "RS256" | "ES256" | "EdDSA";
    schulconnexSpelling: "V1_4" | "V1_7" | "V1_8";
    subjectType: "SHARED" | "PARTNER" | "APP";
    sector: string | null;
    confirmsErasures: boolean;
    suspendedAt: Date | null;
    suspensionReason: string | null;
    createdAt: Date;
    updatedAt: Date;
  };
  pairwiseId: {
    personId: string;
    recordId: string;
    sector: string;
    id: string;
    isUnannounced: boolean | null;
  };
  erasure: {
    id: string;
    clientId: string;
    subjectId: string;
    schoolId: string;
    cause: "deleted" | "no_longer_synced" | "access_withdrawn";
    since: Date;
    state: "open" | "erased" | "kept";
    reason: "legal_obligation" | "legal_claims" | "own_contract" | null;
    acknowledgedAt: Date | null;
  };
  idMove: {
    clientId: string;
    state: "PREPARING" | "RUNNING" | "CUT_OVER" | "CALLED_OFF";
    subjectType: "SHARED" | "PARTNER" | "APP";
    oldSector: string;
    newSector: string;
    startedAt: Date;
    cutOverAt: Date | null;
    people: number;
    announcedUpTo: string | null;
    passed: number;
    isAnnounced: boolean;
    readUpTo: string | null;
    read: number;
    readAt: Date | null;
    forgottenAt: Date | null;
    leasedUntil: Date | null;
  };
  agreement: {
    id: string;
    clientId: string;
    version: string;
    appName: string | null;
    provider: string | null;
    text: string | null;
    pdf: Buffer | null;
    sha256: string | null;
    bytes: number | null;
    deletionDe: string | null;
    deletionEn: string | null;
    createdAt: Date;
    publishedAt: Date | null;
  };
  appLogo: {
    clientId: string;
    type: string;
    hash: string;
    bytes: Buffer;
  };
  appProfile: {
    clientId: string;
    provider: string | null;
    descriptionDe: string | null;
    descriptionEn: string | null;
    purposeDe: string | null;
    purposeEn: string | null;
    privacyUrl: string | null;
    supportAddress: string | null;
  };
  agreementSubprocessor: {
    agreementId: string;
    place: number;
    name: string;
    country: string;
    purpose: string;
  };
  agreementPurpose: {
    agreementId: string;
    item: string;
    required: boolean;
    purposeDe: string | null;
    purposeEn: string | null;
  };
  agreementAcceptance: {
    id: string;
    agreementId: string;
    clientId: string;
    schoolId: string;
    acceptedAt: Date;
    acceptedBy: string | null;
    acceptedRole: string | null;
    attributes: ("SCHOOL_ADDRESS" | "SCHOOL_LOCATION" | "SCHOOL_OFFICIAL_ID" | "SCHOOLING_LEVEL" | "PERSON_NAME" | "SOURCE_SYSTEM_IDENTIFIER")[];
    scopes: string[];
    withheld: ("SCHOOL_ADDRESS" | "SCHOOL_LOCATION" | "SCHOOL_OFFICIAL_ID" | "SCHOOLING_LEVEL" | "PERSON_NAME" | "SOURCE_SYSTEM_IDENTIFIER")[];
    replacedAt: Date | null;
    withdrawnAt: Date | null;
    withdrawnBy: string | null;
    withdrawnRole: string | null;
  };
  withheldItem: {
    clientId: string;
    item: string;
    schoolId: string;
    reason: "SCHOOL" | "NOT_AGREED";
    since: Date;
  };
  scopeRequest: {
    id: string;
    clientId: string;
    scopes: string[];
    reason: string;
    state: "REQUESTED" | "APPROVED" | "REFUSED";
    requestedAt: Date;
    decidedAt: Date | null;
    note: string | null;
  };
  retiredClientId: {
    clientId: string;
    retiredAt: Date;
  };
  formerAlgorithm: {
    algorithm: "RS256" | "ES256" | "EdDSA";
    usedUntil: Date;
  };
  grant: {
    clientId: string;
    schoolId: string;
    signOnAudience: "NOBODY" | "EVERYBODY" | "ROLES" | "GROUPS";
    signOnRoles: ("STUDENT" | "TEACHER" | "OTHER")[];
    sync: boolean;
    schoolSortKey: string;
    createdAt: Date;
    updatedAt: Date;
  };
  syncedGroup: {
    clientId: string;
    schoolId: string;
    groupId: string;
  };
  grantSignOnGroup: {
    clientId: string;
    schoolId: string;
    groupId: string;
  };
  signIn: {
    clientId: string;
    personId: string;
    firstSignInAt: Date;
    lastSignInAt: Date;
  };
  accessReport: {
    id: string;
    clientId: string;
    schoolId: string;
    personId: string | null;
    month: Date;
    reportedAt: Date | null;
    isNewest: boolean;
    type: "SCHOOL" | "GROUP" | "SINGLE_USER" | "NONE";
    identifier: string | null;
    since: Date | null;
    until: Date | null;
    trial: boolean;
  };
  seat: {
    month: Date;
    clientId: string;
    schoolId: string;
    change: string;
    signedIn: number;
    synced: number;
  };
  disclosurePeriod: {
    personId: string;
    clientId: string;
    since: Date;
    until: Date | null;
    isUser: boolean;
    isPerson: boolean;
    seesSchool: boolean;
    schoolIds: string[];
    lastReadAt: Date | null;
  };
  registrationPeriod: {
    clientId: string;
    since: Date;
    until: Date | null;
    name: string;
    provider: string | null;
    type: "CONFIDENTIAL" | "PUBLIC";
    scopes: string[];
    attributes: ("SCHOOL_ADDRESS" | "SCHOOL_LOCATION" | "SCHOOL_OFFICIAL_ID" | "SCHOOLING_LEVEL" | "PERSON_NAME" | "SOURCE_SYSTEM_IDENTIFIER")[];
  };
  withheldPeriod: {
    clientId: string;
    schoolId: string;
    item: string;
    reason: "SCHOOL" | "NOT_AGREED";
    since: Date;
    until: Date | null;
  };
  lastCall: {
    clientId: string;
    schoolId: string;
    at: Date;
  };
  announcedSignIn: {
    personId: string;
    clientId: string;
    at: Date;
    snapshot: unknown;
  };
  viewVersion: {
    subject: string;
    change: string;
    version: string;
    changedAt: Date | null;
    sourceReadAt: Date | null;
  };
  sandbox: {
    id: string;
    clientId: string;
    createdAt: Date;
    expiresAt: Date;
  };
  sandboxStep: {
    sandboxId: string;
    step: string;
    doneAt: Date;
  };
  mergedGrant: {
    mergerId: string;
    clientId: string;
    isNew: boolean;
    settings: unknown;
  };
  rosterConnection: {
    id: string;
    name: string;
    kind: string;
    settings: unknown;
    secret: Buffer | null;
    state: string;
    times: string[];
    daysOff: string[];
    pauseFrom: Date | null;
    pauseUntil: Date | null;
    applies: string;
    notifyAddresses: string[];
    nextRunAt: Date | null;
    leaseHolder: string | null;
    leaseUntil: Date | null;
    failures: number;
    failingSince: Date | null;
    lastFailure: string | null;
    isTold: boolean;
    digest: Buffer | null;
    validator: string | null;
    createdAt: Date;
    updatedAt: Date;
  };
  rosterConnectionSchool: {
    connectionId: string;
    schoolId: string;
  };
  rosterRun: {
    id: string;
    connectionId: string;
    trigger: string;
    outcome: string;
    failure: string | null;
    detail: string | null;
    counts: unknown | null;
    importId: string | null;
    replacedImportId: string | null;
    startedAt: Date;
    endedAt: Date | null;
    notice: string | null;
    noticeDueAt: Date | null;
    noticeTries: number;
    noticeTold: string[];
  };
  school: {
    id: string;
    name: string;
    sortKey: string;
    officialId: string;
    address: string;
    addressAddition: string | null;
    city: string;
    zipCode: string;
    country: string;
    state: string;
    schoolingLevel: string | null;
    createdAt: Date;
    updatedAt: Date;
    sandboxId: string | null;
  };
  schoolLogo: {
    schoolId: string;
    type: string;
    hash: string;
    bytes: Buffer;
  };
  person: {
    id: string;
    homeSchoolId: string | null;
    role: "STUDENT" | "TEACHER" | "OTHER";
    status: "ACTIVE" | "SOFT_DELETED";
    firstFull: string | null;
    firstCall: string | null;
    last: string | null;
    sortKey: string;
    sourceSystemIdentifier: string | null;
    sourceIdIsShared: boolean;
    softDeletedAt: Date | null;
    purgeAt: Date | null;
    leftAt: Date | null;
    retentionFrom: Date | null;
    seenBy: unknown | null;
    blockedAt: Date | null;
    createdAt: Date;
    updatedAt: Date;
  };
  affiliation: {
    id: string;
    personId: string;
    schoolId: string;
    sortKey: string;
  };
  group: {
    id: string;
    schoolId: string;
    name: string;
    sortKey: string;
    naturalKey: string;
    type: "KLASSE" | "KURS" | "SONSTIG";
    status: "ACTIVE" | "DELETED";
    sourceSystemIdentifier: string | null;
    deletedAt: Date | null;
    createdAt: Date;
    updatedAt: Date;
  };
  membership: {
    groupId: string;
    personId: string;
    schoolId: string;
    role: "STUDENT" | "TEACHER" | "OTHER";
  };
  tombstone: {
    personId: string;
    deletedAt: Date;
  };
  handover: {
    id: string;
    fromSchoolId: string;
    toSchoolId: string;
    state: string;
    offered: number;
    moved: number | null;
    createdAt: Date;
    expiresAt: Date;
    closedAt: Date | null;
  };
  schoolMerger: {
    id: string;
    fromSchoolId: string;
    intoSchoolId: string;
    people: number;
    groups: number;
    apps: number;
    mergedAt: Date;
    undoUntil: Date;
    undoneAt: Date | null;
  };
  mergedPerson: {
    mergerId: string;
    personId: string;
    wasHome: boolean;
    wasAtBoth: boolean;
    sourceSystemIdentifier: string | null;
  };
  mergedGroup: {
    mergerId: string;
    groupId: string;
    name: string;
    sourceSystemIdentifier: string | null;
  };
  dataRequest: {
    id: string;
    schoolId: string;
    personId: string | null;
    askedBy: "PERSON" | "GUARDIAN" | "AUTHORITY";
    receivedOn: Date;
    dueOn: Date;
    extension: "COMPLEX" | "MANY" | null;
    extendedAt: Date | null;
    exportedAt: Date | null;
    outcome: "ANSWERED" | "REFUSED" | "WITHDRAWN" | null;
    closedAt: Date | null;
    closedById: string | null;
    closedRole: string | null;
  };
  handoverPerson: {
    personId: string;
    handoverId: string;
  };
  retentionPolicy: {
    id: string;
    schoolId: string | null;
    state: string | null;
    leftMonths: number | null;
    leftFrom: "LEAVING" | "SCHOOL_YEAR_END" | null;
    leftReason: string | null;
    inactiveMonths: number | null;
    inactiveRoster: boolean | null;
    inactiveReason: string | null;
    restoreDays: number | null;
    restoreReason: string | null;
    auditDays: number | null;
    auditReason: string | null;
    effectiveAt: Date;
    updatedAt: Date;
  };
  retentionCheck: {
    schoolId: string;
    checkAt: Date;
    heldAt: Date | null;
    heldPeople: number | null;
    releasedPeople: number | null;
  };
  retentionExemption: {
    personId: string;
    until: Date;
    reason: string;
    givenAt: Date;
  };
  audit: {
    id: string;
    at: Date;
    action: string;
    actorId: string | null;
    clientId: string | null;
    personId: string | null;
    schoolId: string | null;
    requestId: string | null;
    detail: unknown;
    actorRole: string | null;
    before: unknown | null;
    after: unknown | null;
    actId: string | null;
  };
  appEvent: {
    id: string;
    seq: string;
    position: string | null;
    at: Date;
    clientId: string;
    type: string;
    action: string;
    subjectId: string;
    appSubjectId: string | null;
    erasureId: string | null;
    nextSubjectId: string | null;
    oldSubjectId: string | null;
    schoolId: string | null;
    updatedProperties: string[];
    reason: string | null;
    reasonUntil: Date | null;
    traceparent: string | null;
  };
  eventFeed: {
    id: number;
    lastPosition: string;
    sweptPosition: string;
    historyBeganAt: Date;
  };
  stagedPerson: {
    importId: string;
    row: number;
    line: number;
    column: number;
    record: number | null;
    sourceId: string;
    schoolId: string | null;
    homeSchoolId: string | null;
    role: string | null;
    firstFull: string | null;
    firstCall: string | null;
    last: string | null;
    sortKey: string;
    username: string | null;
    fields: unknown | null;
    silentAbout: string[];
    isDeleted: boolean;
  };
  stagedRole: {
    importId: string;
    row: number;
    line: number;
    column: number;
    personSourceId: string;
    schoolId: string | null;
    role: string;
    isPrimary: boolean;
    isDeleted: boolean;
  };
  importSchool: {
    importId: string;
    schoolId: string;
    state: string;
    counts: unknown;
    holds: unknown;
    difference: string | null;
    comparedAt: Date | null;
    directoryVersion: string | null;
    confirmed: unknown;
    confirmedPeople: number | null;
    confirmedGroups: number | null;
    appliedAt: Date | null;
    undoUntil: Date | null;
    changedSubjects: number | null;
  };
  stagedMembership: {
    importId: string;
    row: number;
    line: number;
    personColumn: number;
    groupColumn: number;
    schoolId: string | null;
    personSourceId: string;
    groupSourceId: string;
    role: string | null;
    isDeleted: boolean;
  };
  importFaultyRow: {
    importId: string;
    line: number;
    fields: unknown;
    sourceId: string | null;
    groupSourceIds: string[];
  };
  importError: {
    importId: string;
    row: number;
    file: string;
    line: number;
    column: number | null;
    record: number | null;
    field: string | null;
    code: string;
    message: string;
    lineText: string | null;
  };
  columnMapping: {
    schoolId: string;
    headings: string;
    mapping: unknown;
    usedAt: Date;
  };
  importPiece: {
    importId: string;
    number: number;
    bytes: Buffer;
  };
  import: {
    id: string;
    format: string;
    mode: string;
    people: string;
    speaksOf: string[];
    state: string;
    fileName: string;
    schoolYear: string;
    errorCount: number;
    warningCount: number;
    rows: unknown | null;
    headings: string[];
    notes: unknown;
    actorId: string | null;
    createdAt: Date;
    appliedAt: Date | null;
    undoneAt: Date | null;
    leaseHolder: string | null;
    leaseUntil: Date | null;
    namedSchoolIds: string[];
    otherSchoolId: string | null;
    otherSchool: string | null;
    progressPhase: string | null;
    progressPercent: number | null;
    progressAt: Date | null;
    upload: unknown | null;
  };
  importTurn: {
    importId: string;
    actorId: string;
    schoolId: string | null;
    isReading: boolean;
    isSmall: boolean;
    queuedAt: Date;
    startedAt: Date | null;
    seenAt: Date;
    schoolServedAt: Date | null;
    actorServedAt: Date | null;
  };
  importChange: {
    importId: string;
    subjectId: string;
    personId: string | null;
    schoolId: string;
    before: unknown | null;
    after: unknown | null;
    keepUntil: Date;
  };
  stagedGroup: {
    importId: string;
    row: number;
    line: number;
    column: number;
    sourceId: string;
    schoolId: string | null;
    name: string | null;
    sortKey: string;
    type: string | null;
    previousSourceId: string | null;
    mayMean: string[];
    isDeleted: boolean;
  };
  personImport: {
    id: string;
    at: Date;
    personId: string;
    schoolId: string;
    importId: string;
    change: string;
    classesBefore: string[];
    classesAfter: string[];
  };
  groupCarryOver: {
    schoolId: string;
    schoolYear: string;
    previousSourceId: string;
    sourceId: string;
    at: Date;
  };
  credential: {
    personId: string;
    username: string;
    passwordHash: string | null;
    mustChange: boolean;
    generation: number;
    hasSignedIn: boolean;
    forgottenSignInAt: Date | null;
    passkeyDeclinedAt: Date | null;
    updatedAt: Date;
  };
  passwordRequest: {
    personId: string;
    schoolId: string;
    requestedAt: Date;
  };
  userName: {
    hash: Buffer;
    personId: string | null;
    releasedOn: Date | null;
  };
  userNameNumber: {
    hash: Buffer;
    last: number;
    usedOn: Date;
  };
  userNameKey: {
    id: number;
    key: Buffer;
  };
  schoolSignIn: {
    schoolId: string;
    userNameRule: "FIRST_DOT_LAST" | "FIRST_INITIAL_LAST" | "FIRST_LAST_INITIAL" | "RANDOM" | "ROSTER";
    passwordKind: "WORDS" | "LETTERS";
    mustChangePassword: boolean;
    ownPasswordFromGrade: number | null;
    helpText: string | null;
    passkeys: boolean;
    passkeysFromGrade: number | null;
    pupilSessionHours: number | null;
    staffSessionHours: number | null;
    staySignedInDays: number;
    staySignedInFromGrade: number | null;
  };
  oidcArtifact: {
    kind: string;
    idHash: Buffer;
    payload: unknown;
    clientId: string | null;
    personId: string | null;
    generation: number | null;
    cardId: string | null;
    upstreamSessionId: string | null;
    grantId: string | null;
    sessionUid: string | null;
    consumedAt: Date | null;
    replay: Buffer | null;
    expiresAt: Date;
  };
  consent: {
    personId: string;
    clientId: string;
    scopes: string[];
    grantedAt: Date;
  };
  schoolChoice: {
    personId: string;
    clientId: string;
    schoolId: string;
  };
  logoutNotice: {
    id: string;
    clientId: string;
    personId: string;
    sid: string;
    attempts: number;
    nextAttemptAt: Date;
    createdAt: Date;
  };
  voidSignIn: {
    personId: string;
  };
  signingKey: {
    kid: string;
    algorithm: "RS256" | "ES256" | "EdDSA";
    state: "NEXT" | "ACTIVE" | "RETIRED";
    publicJwk: unknown;
    encryptedPrivate: Buffer;
    createdAt: Date;
    activatedAt: Date | null;
    retiredAt: Date | null;
  };
  sharedSecret: {
    name: string;
    encrypted: Buffer;
    createdAt: Date;
  };
  signInPlace: {
    personId: string;
    device: Buffer;
    lastUsedAt: Date;
  };
  signInBrake: {
    key: Buffer;
    failures: number;
    waitUntil: Date;
    forgetAt: Date;
    personId: string | null;
    everywhere: boolean;
  };
  wrongPassword: {
    key: Buffer;
    hour: Date;
    personId: string | null;
    tries: number;
    lastAt: Date;
  };
  rateLimit: {
    key: Buffer;
    fullAt: Date;
  };
  cardSettings: {
    schoolId: string;
    enabled: boolean;
    grades: number[];
    hoursFrom: string | null;
    hoursTo: string | null;
    weekdays: number[];
    networks: string[];
    secondStep: "NONE" | "PICTURE" | "PIN";
    printSecondStep: boolean;
    pictureCodeUpToGrade: number | null;
    classLists: boolean;
    updatedAt: Date;
  };
  loginCard: {
    id: string;
    personId: string;
    schoolId: string;
    tokenHash: Buffer;
    secondStep: "NONE" | "PICTURE" | "PIN";
    secondStepHash: Buffer | null;
    wrongAnswers: number;
    createdAt: Date;
    createdByRole: string | null;
    lastUsedAt: Date | null;
    revokedAt: Date | null;
    refusedAt: Date | null;
    refusedFor: "REVOKED" | "DISABLED" | "GRADE" | "HOURS" | "NETWORK" | "ANSWER" | null;
  };
  parentLetter: {
    schoolId: string;
    text: string;
  };
  credentialBatch: {
    id: string;
    schoolId: string;
    caller: string;
    groupIds: string[];
    roles: ("STUDENT" | "TEACHER" | "OTHER")[];
    newPasswords: boolean;
    withQr: boolean;
    withLetters: boolean;
    onlyMissing: boolean;
    createdAt: Date;
    readyAt: Date | null;
    handedOutAt: Date | null;
    handedOutKey: string | null;
    expiresAt: Date;
    encrypted: Buffer | null;
    leaseUntil: Date | null;
  };
  credentialBatchPerson: {
    batchId: string;
    personId: string;
    encrypted: Buffer | null;
  };
  pictureCode: {
    personId: string;
    schoolId: string;
    hash: Buffer;
    wrongTries: number;
    chosenAt: Date;
  };
  classList: {
    id: string;
    groupId: string;
    codeHash: Buffer;
    endsAt: Date;
  };
  cardPrint: {
    id: string;
    caller: string;
    encrypted: Buffer;
    createdAt: Date;
  };
  secondFactor: {
    id: string;
    personId: string;
    kind: "TOTP" | "PASSKEY";
    label: string;
    secret: Buffer | null;
    lastStep: number | null;
    credentialId: string | null;
    publicKey: Buffer | null;
    counter: string | null;
    transports: string[];
    isAsked: boolean;
    createdAt: Date;
    lastUsedAt: Date | null;
  };
  recoveryCode: {
    personId: string;
    hash: Buffer;
  };
  staffRole: {
    id: string;
    role: "OPERATOR" | "DISTRICT" | "SCHOOL_ADMIN" | "SECRETARY" | "CLASS_TEACHER" | "PARTNER" | "SUPPORT";
    personId: string | null;
    clientId: string | null;
    reason: string | null;
    endsAt: Date | null;
    givenAt: Date;
  };
  staffRoleSchool: {
    roleId: string;
    schoolId: string;
  };
  staffRoleApp: {
    roleId: string;
    clientId: string;
  };
  idempotencyKey: {
    caller: string;
    key: string;
    requestHash: Buffer;
    status: number;
    answer: Buffer;
    namedIds: string[];
    createdAt: Date;
  };
  mergedStaffRole: {
    mergerId: string;
    roleId: string;
  };
  figure: {
    metric: string;
    step: string;
    subject: string;
    at: Date;
    outcome: string;
    count: string;
  };
  jobRun: {
    name: string;
    at: Date;
    durationMs: number;
    outcome: string;
    doneAt: Date | null;
    failures: number;
  };
  apiRequest: {
    id: string;
    clientId: string;
    requestId: string;
    shortCode: string | null;
    at: Date;
    operationId: string;
    path: string | null;
    status: number;
    code: string | null;
    message: string | null;
    durationMs: number;
  };
  signOnStep: {
    id: string;
    clientId: string;
    requestId: string;
    shortCode: string | null;
    at: Date;
    attempt: string;
    step: string;
    outcome: string;
    code: string | null;
    description: string | null;
    reason: string | null;
    sent: unknown | null;
  };
  upstreamConnection: {
    id: string;
    schoolId: string;
    profile: "ISERV" | "ENTRA" | "GOOGLE" | "OIDC";
    name: string;
    issuer: string | null;
    clientId: string | null;
    clientSecret: Buffer | null;
    secretExpiresAt: Date | null;
    authMethod: "client_secret_basic" | "client_secret_post" | "private_key_jwt";
    scopes: string[];
    tenant: string | null;
    schoolClaim: string | null;
    schoolValue: string | null;
    subjectClaim: string;
    ruleClaim: string | null;
    ruleField: "SOURCE_SYSTEM_IDENTIFIER" | "USERNAME" | "PERSON_ID";
    normalisations: ("TRIM" | "LOWER_CASE" | "WITHOUT_LEADING_ZEROS" | "WITHOUT_DOMAIN")[];
    state: "DRAFT" | "ON" | "OFF";
    groupIds: string[];
    createsGuests: boolean;
    confirmedForStaff: boolean;
    trustedForSecondFactor: boolean;
    endsUpstreamSession: boolean;
    metadata: unknown | null;
    metadataReadAt: Date | null;
    keys: unknown | null;
    keysReadAt: Date | null;
    refreshAt: Date | null;
    testedAt: Date | null;
    lastSuccessAt: Date | null;
    failingSince: Date | null;
    lastFailure: string | null;
    lastFailureAt: Date | null;
    createdAt: Date;
    updatedAt: Date;
  };
  upstreamLink: {
    connectionId: string;
    issuer: string;
    subject: string;
    personId: string;
    linkedAt: Date;
    linkedBy: "RULE" | "STAFF";
    lastSignInAt: Date | null;
    lacksClaim: boolean;
  };
  upstreamSession: {
    id: string;
    connectionId: string;
    sub: string;
    sid: string | null;
    personId: string;
    idToken: Buffer | null;
    createdAt: Date;
    endedAt: Date | null;
    checkAt: Date;
  };
  upstreamRoundTrip: {
    stateHash: Buffer;
    connectionId: string;
    browserHash: Buffer;
    purpose: "SIGN_IN" | "SILENT" | "TEST";
    details: Buffer;
    expiresAt: Date;
  };
  upstreamRecentSignIn: {
    connectionId: string;
    place: number;
    personId: string;
    claims: Buffer;
    at: Date;
  };
  upstreamRefusal: {
    id: string;
    connectionId: string;
    code: string;
    subjectHash: Buffer;
    details: Buffer;
    firstAt: Date;
    lastAt: Date;
    tries: number;
    mentions: number[];
  };
  upstreamSetUpLink: {
    id: string;
    connectionId: string;
    tokenHash: Buffer;
    createdAt: Date;
    createdByRole: string | null;
    expiresAt: Date;
    openedAt: Date | null;
    browserHash: Buffer | null;
    closedAt: Date | null;
    tests: number;
    tested: Buffer | null;
    mentions: number[];
  };
  schoolWayIn: {
    schoolId: string;
    linkName: string | null;
    localPasswords: boolean;
    emergencyUntil: Date | null;
  };
  webhookEndpoint: {
    id: string;
    clientId: string;
    url: string;
    eventTypes: string[];
    state: "ACTIVE" | "PAUSED" | "DISABLED";
    reason: string | null;
    stateChangedAt: Date;
    resumeAt: Date | null;
    tryNewAt: Date | null;
    failures: number;
    failingSince: Date | null;
    listensUntil: Date | null;
    leasedBy: string | null;
    leasedUntil: Date | null;
    createdAt: Date;
    updatedAt: Date;
  };
  webhookSecret: {
    id: string;
    endpointId: string;
    sealed: Buffer;
    createdAt: Date;
    expiresAt: Date | null;
  };
  webhookDelivery: {
    id: string;
    messageId: string;
    endpointId: string;
    eventType: string;
    subjectId: string;
    isTest: boolean;
    body: string;
    state: "PENDING" | "DELIVERED" | "FAILED";
    attempts: number;
    attemptsSpent: number;
    dueAt: Date | null;
    subjectFails: boolean;
    createdAt: Date;
    finishedAt: Date | null;
    traceparent: string | null;
  };
  webhookAttempt: {
    deliveryId: string;
    number: number;
    at: Date;
    durationMs: number;
    status: number | null;
    answer: Buffer | null;
    error: string | null;
  };
  webhookFanOut: {
    id: number;
    position: string;
  };
};

/** The fields that a new row must be given. */
export type Required = {
  app: "clientId" | "name" | "type" | "createdAt" | "updatedAt";
  pairwiseId: "personId" | "recordId" | "sector" | "id";
  erasure: "id" | "clientId" | "subjectId" | "schoolId" | "cause" | "since";
  idMove: "clientId" | "subjectType" | "oldSector" | "newSector" | "startedAt";
  agreement: "id" | "clientId" | "version" | "createdAt";
  appLogo: "clientId" | "type" | "hash" | "bytes";
  appProfile: "clientId";
  agreementSubprocessor: "agreementId" | "place" | "name" | "country" | "purpose";
  agreementPurpose: "agreementId" | "item" | "required";
  agreementAcceptance: "id" | "agreementId" | "clientId" | "schoolId" | "acceptedAt";
  withheldItem: "clientId" | "item" | "schoolId" | "reason" | "since";
  scopeRequest: "id" | "clientId" | "reason" | "requestedAt";
  retiredClientId: "clientId" | "retiredAt";
  formerAlgorithm: "algorithm" | "usedUntil";
  grant: "clientId" | "schoolId" | "createdAt" | "updatedAt";
  syncedGroup: "clientId" | "schoolId" | "groupId";
  grantSignOnGroup: "clientId" | "schoolId" | "groupId";
  signIn: "clientId" | "personId" | "firstSignInAt" | "lastSignInAt";
  accessReport: "id" | "clientId" | "schoolId" | "month" | "isNewest" | "type" | "trial";
  seat: "month" | "clientId" | "schoolId" | "change";
  disclosurePeriod: "personId" | "clientId" | "since" | "isUser" | "isPerson" | "seesSchool";
  registrationPeriod: "clientId" | "since" | "name" | "type";
  withheldPeriod: "clientId" | "schoolId" | "item" | "reason" | "since";
  lastCall: "clientId" | "schoolId" | "at";
  announcedSignIn: "personId" | "clientId" | "at" | "snapshot";
  viewVersion: "subject" | "change" | "version";
  sandbox: "id" | "clientId" | "createdAt" | "expiresAt";
  sandboxStep: "sandboxId" | "step" | "doneAt";
  mergedGrant: "mergerId" | "clientId" | "isNew" | "settings";
  rosterConnection: "id" | "name" | "kind" | "state" | "applies" | "createdAt" | "updatedAt";
  rosterConnectionSchool: "connectionId" | "schoolId";
  rosterRun: "id" | "connectionId" | "trigger" | "outcome" | "startedAt";
  school: "id" | "name" | "sortKey" | "officialId" | "address" | "city" | "zipCode" | "country" | "state" | "createdAt" | "updatedAt";
  schoolLogo: "schoolId" | "type" | "hash" | "bytes";
  person: "id" | "role" | "sortKey" | "createdAt" | "updatedAt";
  affiliation: "id" | "personId" | "schoolId";
  group: "id" | "schoolId" | "name" | "sortKey" | "type" | "createdAt" | "updatedAt";
  membership: "groupId" | "personId" | "schoolId" | "role";
  tombstone: "personId" | "deletedAt";
  handover: "id" | "fromSchoolId" | "toSchoolId" | "state" | "offered" | "createdAt" | "expiresAt";
  schoolMerger: "id" | "fromSchoolId" | "intoSchoolId" | "people" | "groups" | "apps" | "mergedAt" | "undoUntil";
  mergedPerson: "mergerId" | "personId" | "wasHome" | "wasAtBoth";
  mergedGroup: "mergerId" | "groupId" | "name";
  dataRequest: "id" | "schoolId" | "askedBy" | "receivedOn" | "dueOn";
  handoverPerson: "personId" | "handoverId";
  retentionPolicy: "id" | "effectiveAt" | "updatedAt";
  retentionCheck: "schoolId" | "checkAt";
  retentionExemption: "personId" | "until" | "reason" | "givenAt";
  audit: "id" | "at" | "action";
  appEvent: "id" | "at" | "clientId" | "type" | "action" | "subjectId";
  eventFeed: "lastPosition" | "sweptPosition";
  stagedPerson: "importId" | "row" | "line" | "column" | "sourceId" | "sortKey" | "isDeleted";
  stagedRole: "importId" | "row" | "line" | "column" | "personSourceId" | "role" | "isPrimary" | "isDeleted";
  importSchool: "importId" | "schoolId" | "state" | "counts";
  stagedMembership: "importId" | "row" | "line" | "personColumn" | "groupColumn" | "personSourceId" | "groupSourceId" | "isDeleted";
  importFaultyRow: "importId" | "line" | "fields";
  importError: "importId" | "row" | "file" | "line" | "code" | "message";
  columnMapping: "schoolId" | "headings" | "mapping" | "usedAt";
  importPiece: "importId" | "number" | "bytes";
  import: "id" | "format" | "mode" | "state" | "fileName" | "createdAt";
  importTurn: "importId" | "actorId" | "isReading" | "queuedAt" | "seenAt";
  importChange: "importId" | "subjectId" | "schoolId" | "keepUntil";
  stagedGroup: "importId" | "row" | "line" | "column" | "sourceId" | "sortKey" | "isDeleted";
  personImport: "id" | "at" | "personId" | "schoolId" | "importId" | "change";
  groupCarryOver: "schoolId" | "schoolYear" | "previousSourceId" | "sourceId" | "at";
  credential: "personId" | "username" | "updatedAt";
  passwordRequest: "personId" | "schoolId" | "requestedAt";
  userName: "hash";
  userNameNumber: "hash" | "last";
  userNameKey: "id" | "key";
  schoolSignIn: "schoolId" | "userNameRule" | "passwordKind" | "mustChangePassword";
  oidcArtifact: "kind" | "idHash" | "payload" | "expiresAt";
  consent: "personId" | "clientId" | "grantedAt";
  schoolChoice: "personId" | "clientId" | "schoolId";
  logoutNotice: "id" | "clientId" | "personId" | "sid" | "nextAttemptAt" | "createdAt";
  voidSignIn: "personId";
  signingKey: "kid" | "algorithm" | "state" | "publicJwk" | "encryptedPrivate" | "createdAt";
  sharedSecret: "name" | "encrypted" | "createdAt";
  signInPlace: "personId" | "device" | "lastUsedAt";
  signInBrake: "key" | "failures" | "waitUntil" | "forgetAt";
  wrongPassword: "key" | "hour" | "tries" | "lastAt";
  rateLimit: "key" | "fullAt";
  cardSettings: "schoolId" | "enabled" | "secondStep" | "printSecondStep" | "updatedAt";
  loginCard: "id" | "personId" | "schoolId" | "tokenHash" | "secondStep" | "createdAt";
  parentLetter: "schoolId" | "text";
  credentialBatch: "id" | "schoolId" | "caller" | "newPasswords" | "withQr" | "onlyMissing" | "createdAt" | "expiresAt";
  credentialBatchPerson: "batchId" | "personId";
  pictureCode: "personId" | "schoolId" | "hash" | "chosenAt";
  classList: "id" | "groupId" | "codeHash" | "endsAt";
  cardPrint: "id" | "caller" | "encrypted" | "createdAt";
  secondFactor: "id" | "personId" | "kind" | "label" | "createdAt";
  recoveryCode: "personId" | "hash";
  staffRole: "id" | "role" | "givenAt";
  staffRoleSchool: "roleId" | "schoolId";
  staffRoleApp: "roleId" | "clientId";
  idempotencyKey: "caller" | "key" | "requestHash" | "status" | "answer" | "createdAt";
  mergedStaffRole: "mergerId" | "roleId";
  figure: "metric" | "step" | "subject" | "at" | "outcome" | "count";
  jobRun: "name" | "at" | "durationMs" | "outcome";
  apiRequest: "id" | "clientId" | "requestId" | "at" | "operationId" | "status" | "durationMs";
  signOnStep: "id" | "clientId" | "requestId" | "at" | "attempt" | "step" | "outcome";
  upstreamConnection: "id" | "schoolId" | "profile" | "name" | "authMethod" | "subjectClaim" | "ruleField" | "createdAt" | "updatedAt";
  upstreamLink: "connectionId" | "issuer" | "subject" | "personId" | "linkedAt" | "linkedBy";
  upstreamSession: "id" | "connectionId" | "sub" | "personId" | "createdAt" | "checkAt";
  upstreamRoundTrip: "stateHash" | "connectionId" | "browserHash" | "purpose" | "details" | "expiresAt";
  upstreamRecentSignIn: "connectionId" | "place" | "personId" | "claims" | "at";
  upstreamRefusal: "id" | "connectionId" | "code" | "subjectHash" | "details" | "firstAt" | "lastAt" | "tries";
  upstreamSetUpLink: "id" | "connectionId" | "tokenHash" | "createdAt" | "expiresAt";
  schoolWayIn: "schoolId";
  webhookEndpoint: "id" | "clientId" | "url" | "stateChangedAt" | "createdAt" | "updatedAt";
  webhookSecret: "id" | "endpointId" | "sealed" | "createdAt";
  webhookDelivery: "messageId" | "endpointId" | "eventType" | "subjectId" | "body" | "createdAt";
  webhookAttempt: "deliveryId" | "number" | "at" | "durationMs";
  webhookFanOut: "position";
};
