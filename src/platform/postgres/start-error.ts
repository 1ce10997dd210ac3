import { isDatabaseUnavailable } from "../database/db.ts";

export class DatabaseStartError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "DatabaseStartError";
  }
}

const wrongUser =
  "Check user and password in DATABASE_URL; characters such as @ / : # in a password are written as %40 %2F %3A %23.";
const untrusted =
  "Give the certificate of the authority with sslrootcert=<file> in DATABASE_URL, and the host as the certificate names it.";

/** What to do about an error of a server, by its SQLSTATE or the code of a connection. */
const advice: Readonly<Record<string, string>> = {
  "28000":
    "Check the user in DATABASE_URL, and pg_hba.conf; a server that wants TLS needs sslmode=require in DATABASE_URL.",
  "28P01": wrongUser,
  "3D000": "Check the name of the database in DATABASE_URL, or make it: CREATE DATABASE <name> ENCODING 'UTF8'.",
  "3F000": "Make a schema for the tables: CREATE SCHEMA public AUTHORIZATION <role>.",
  "25006":
    "The service must write. DATABASE_URL must name the primary, without default_transaction_read_only for this role or database.",
  "42501": "The role in DATABASE_URL must own the database and its tables: ALTER DATABASE <name> OWNER TO <role>.",
  "53100": "The disk of the server is full. Make room, then start again.",
  "53300":
    "Raise the limit (max_connections of the server, CONNECTION LIMIT of the role or database), or lower DATABASE_POOL_SIZE and WEB_CONCURRENCY.",
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted,
  CERT_HAS_EXPIRED: "The certificate of the server has expired. Renew it there.",
};

/** What a server or its connection said, and what to do about it; null for an error of something else. */
export function explainDatabaseError(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const said = error instanceof AggregateError ? error.errors.map(String).join("; ") : error.message;
  const { code } = error as { code?: unknown };
  if (/does not support SSL/.test(said)) return `${said}. Turn on ssl there, or leave out sslmode in DATABASE_URL.`;
  if (typeof code === "string" && Object.hasOwn(advice, code)) return `${said}. ${advice[code]!}`;
  return isDatabaseUnavailable(error) ? `${said}. Check DATABASE_URL and that the server runs.` : null;
}
