import { availableParallelism } from "node:os";
import type { Values } from "./options/index.ts";

export type Config = ReturnType<typeof arrange>;

const processors = availableParallelism();

/** Splits the parallel password checks among the processes; one processor is left for all other work. */
const shareOf = (inAll: number | undefined, processes: number): number => {
  const each = Math.floor((inAll ?? processors - 1) / processes);
  return Math.max(1, inAll === undefined ? Math.min(4, each) : each);
};

export function arrange(values: Values) {
  const production = values.NODE_ENV === "production";
  const webProcesses = values.ROLE === "worker" ? 1 : (values.WEB_CONCURRENCY ?? (production ? processors : 1));
  const issuerUrl = values.ISSUER_URL ?? `http://localhost:${values.PORT}`;
  return {
    production,
    issuerUrl,
    baseUrl: values.BASE_URL ?? issuerUrl,
    port: values.PORT,
    host: values.HOST ?? (production ? "::" : "localhost"),
    trustedProxies: values.TRUSTED_PROXIES ?? [],
    platform: values.PLATFORM,
    role: values.ROLE,
    webProcesses,
    databaseUrl: values.DATABASE_URL,
    databaseReplicaUrl: values.DATABASE_REPLICA_URL,
    databaseReplicaMaxAgeSeconds: values.DATABASE_REPLICA_MAX_AGE_SECONDS,
    databasePoolSize: values.DATABASE_POOL_SIZE,
    lists: {
      openPerApp: values.LISTS_PER_APP,
      waitSeconds: values.LIST_WAIT_SECONDS,
      stallSeconds: values.LIST_STALL_SECONDS,
      totalSeconds: values.LIST_TOTAL_SECONDS,
    },
    dataDir: values.DATA_DIR,
    demoWorld: values.DEMO_WORLD ?? !production,
    encryptionKeys: values.ENCRYPTION_KEYS,
    lifetimes: {
      codeSeconds: values.AUTHORIZATION_CODE_SECONDS,
      accessTokenSeconds: values.ACCESS_TOKEN_SECONDS,
      idTokenSeconds: values.ID_TOKEN_SECONDS,
      refreshTokenSeconds: values.REFRESH_TOKEN_SECONDS,
      refreshGraceSeconds: values.REFRESH_GRACE_SECONDS,
      sessionSeconds: values.SESSION_SECONDS,
    },
    restoreWindowDays: values.RESTORE_WINDOW_DAYS,
    /** Undefined if no number is configured; the shares of connections then keep their defaults. */
    importConnectionsFor: values.IMPORTS_AT_ONCE,
    importsAtOnce: values.IMPORTS_AT_ONCE ?? Math.min(4, Math.max(1, Math.floor(processors / 2))),
    supportRoleDays: values.SUPPORT_ROLE_DAYS,
    handoverDays: values.HANDOVER_DAYS,
    demandsAgreements: values.AGREEMENTS === "required",
    importHoldShare: values.IMPORT_HOLD_PERCENT === undefined ? 1 / 3 : values.IMPORT_HOLD_PERCENT / 100,
    changeFeedDays: values.CHANGE_FEED_DAYS,
    idChangesDays: values.IDENTIFIER_CHANGES_DAYS,
    auditDays: values.AUDIT_DAYS,
    retention: {
      leftMonths: values.RETENTION_LEFT_MONTHS,
      deletedPersonDays: values.RESTORE_WINDOW_DAYS,
      auditDays: values.AUDIT_DAYS,
      eventDays: values.CHANGE_FEED_DAYS,
      deliveryDays: values.WEBHOOK_LOG_DAYS,
      recordDays: values.PRIVACY_RECORD_DAYS,
      erasureDays: values.ERASURE_DAYS,
    },
    erasureOverdueDays: values.ERASURE_OVERDUE_DAYS,
    retentionRules: {
      defaults: {
        leftMonths: values.RETENTION_LEFT_MONTHS,
        inactiveMonths: values.RETENTION_INACTIVE_MONTHS,
        restoreDays: values.RESTORE_WINDOW_DAYS,
        auditDays: values.AUDIT_DAYS,
      },
      limits: {
        leftMonths: { min: 0, max: values.RETENTION_LEFT_MONTHS_MAX },
        inactiveMonths: { min: values.RETENTION_INACTIVE_MONTHS_MIN, max: 240 },
        restoreDays: { min: values.RETENTION_RESTORE_DAYS_MIN, max: values.RETENTION_RESTORE_DAYS_MAX },
        auditDays: { min: Math.min(values.RETENTION_AUDIT_DAYS_MIN, values.AUDIT_DAYS), max: values.AUDIT_DAYS },
      },
      hold: { people: values.RETENTION_HOLD_PEOPLE, share: values.RETENTION_HOLD_PERCENT / 100 },
      noticeDays: values.RETENTION_NOTICE_DAYS,
    },
    staffSecondFactor: values.STAFF_SECOND_FACTOR ?? (production ? ("required" as const) : ("offered" as const)),
    withoutPkce: {
      isAllowed: values.SIGN_ON_WITHOUT_PKCE === "allowed",
      deprecatedAt: values.SIGN_ON_WITHOUT_PKCE_DEPRECATED,
      sunsetAt: values.SIGN_ON_WITHOUT_PKCE_SUNSET,
    },
    passwordHashConcurrency: shareOf(values.PASSWORD_HASH_CONCURRENCY, webProcesses),
    allowPrivateAddresses: values.WEBHOOK_ALLOW_PRIVATE_ADDRESSES,
    rosterFolder: values.ROSTER_FOLDER,
    rosterFetchSeconds: values.ROSTER_FETCH_SECONDS,
    sftpPort: values.SFTP_PORT,
    sftpAddress: values.SFTP_ADDRESS,
    mailUrl: values.SMTP_URL,
    mailFrom: values.MAIL_FROM,
    webhooks: {
      timeoutMs: values.WEBHOOK_TIMEOUT_SECONDS * 1000,
      retrySeconds: values.WEBHOOK_RETRY_SECONDS,
      disableAfterDays: values.WEBHOOK_DISABLE_AFTER_DAYS,
      logDays: values.WEBHOOK_LOG_DAYS,
      concurrency: values.WEBHOOK_CONCURRENCY,
    },
    brand: {
      name: values.PAGES_NAME,
      logoFile: values.PAGES_LOGO ?? null,
      colour: values.PAGES_COLOUR ?? null,
      links: {
        legalNotice: values.LEGAL_NOTICE_URL ?? null,
        privacy: values.PRIVACY_URL ?? null,
        accessibility: values.ACCESSIBILITY_URL ?? null,
        help: values.HELP_URL ?? null,
      },
    },
    securityContact: values.SECURITY_CONTACT ?? null,
    operator: {
      name: values.PAGES_NAME,
      legalNoticeUrl: values.LEGAL_NOTICE_URL ?? null,
      privacyUrl: values.PRIVACY_URL ?? null,
    },
    packages: values.PACKAGES_SOURCE ?? { repository: null, licence: "SEE LICENSE IN LICENSE" },
    logLevel: values.LOG_LEVEL,
    tracing:
      values.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? null
        : {
            endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
            headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
            serviceName: values.OTEL_SERVICE_NAME,
            share: values.OTEL_TRACES_SAMPLER_ARG,
          },
    metricsPort: values.METRICS_PORT,
    metricsToken: values.METRICS_TOKEN,
    shutdownGraceSeconds: values.SHUTDOWN_GRACE_SECONDS,
  };
}

export function settlePort(config: Config, port: number): Config {
  if (config.port !== 0) return config;
  const settle = (url: string) => url.replace(/^http:\/\/localhost:0$/, `http://localhost:${port}`);
  return { ...config, port, issuerUrl: settle(config.issuerUrl), baseUrl: settle(config.baseUrl) };
}
