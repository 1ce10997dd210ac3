import assert from "node:assert/strict";

/** What a program is given. Shape: `events` are bodies of webhooks by their type. */
export type World = {
  urls: { idm: string; schulconnex: string; signOn: string };
  clientId: string;
  clientSecret: string;
  scope: string;
  userToken: string;
  school: string;
  group: string;
  person: string;
  personWithoutName: string;
  hiddenPerson: string;
  /** Of which the app says that it keeps the data. */
  erasure: string;
  /** Whose id changes. */
  movedPerson: string;
  events: { person: unknown[]; group: unknown[]; school: unknown[] };
};

/** What a program did. Shape: `read` has what each operation answered, by operationId, parsed by the schema made for it. */
export type Seen = {
  token: { token_type: string; expires_in: number };
  wrongSecret: { status: number; error: string };
  read: Record<string, unknown>;
  changed: number;
  firstPage: unknown[];
  deletedGroups: unknown[];
  withParts: unknown[];
  hidden: { status: number; code: string };
  wrongLimit: { status: number; code: string };
  wrongToken: { status: number; code: string };
  notOffered: Record<string, { status: number; code: string; subcode: string }>;
  /** Missing where the generator makes types only. */
  events?: { person: unknown[]; group: unknown[]; school: unknown[] };
};

export const world = JSON.parse(process.env["WORLD"] ?? "null") as World;

/** What the app did with the data of `erasure`. */
export const kept = { outcome: "kept", reason: "legal_claims" } as const;

export const basic = (secret = world.clientSecret): string =>
  `Basic ${Buffer.from(`${world.clientId}:${secret}`).toString("base64")}`;

/** The answer of an operation that has to succeed. */
export function some<T>(value: T | undefined | null): T {
  assert(value !== undefined && value !== null, "there is no answer");
  return value;
}

export function print(seen: Seen): void {
  process.stdout.write(JSON.stringify(seen));
}

/** Awaits a refusal. */
export async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => assert.fail("it was not refused"),
    (error: unknown) => error,
  );
}
