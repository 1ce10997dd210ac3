import type { ClientId } from "../../src/access/index.ts";
import type { GroupId, PersonId, SchoolId } from "../../src/directory/index.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { withPrismaTransaction, type PrismaDb } from "../../src/platform/database/db.ts";
import { giveRole, type StaffRoleName } from "../../src/staff/index.ts";
import { makeMakers } from "./make.ts";
import type { TestService } from "./service.ts";
import { giveRoleTo } from "./portal.ts";
import { getUserTokens, giveLogin, issueAppToken, type TestApp } from "./token.ts";

export const admin = "/admin/v1";

export type Sent = { status: number; headers: Headers; body: unknown };
export type AdminClient = (
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  given?: { body?: unknown; headers?: Record<string, string> },
) => Promise<Sent>;

/** Calls the admin API with a token, as a program of the staff would */
export const makeAdminClient =
  ({ url }: { url: string }, token: string): AdminClient =>
  async (method, path, { body, headers = {} } = {}) => {
    const response = await fetch(url + admin + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { "content-type": body instanceof Uint8Array ? "image/png" : "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? null : (JSON.parse(text) as unknown),
    };
  };

/** The status and code of a refusal. */
export const refusalOf = ({ status, body }: Sent): [status: number, code: string | undefined] => [
  status,
  (body as { code?: string } | null)?.code,
];

/** The ids of a list. */
export const idsOf = ({ body }: Sent): string[] => (body as { id: string }[]).map(({ id }) => id);

/** A body to be compared with that of another request. */
export const withoutRequest = ({ body }: Sent): object => ({ ...(body as object), requestId: "" });

/** The address of the next page of a list. */
export const nextPage = ({ headers }: Sent): string | undefined =>
  /<\/admin\/v1([^>]+)>/.exec(headers.get("link") ?? "")?.[1];

/** The pages of a list. */
export async function readPages<Row>(call: AdminClient, path: string): Promise<Row[][]> {
  const pages: Row[][] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const page = await call("GET", next);
    if (page.status !== 200) throw new Error(`${next} was answered with ${page.status}`);
    pages.push(page.body as Row[]);
    next = nextPage(page);
  }
  return pages;
}

/** What is called, and its database: a service of a test, or one in a process of its own. */
export type CalledService = { url: string; db: PrismaDb; clock: Clock };

/** An app for automation that holds one staff role, and its client. */
export async function makeStaff(
  service: CalledService,
  role: StaffRoleName,
  { schoolIds = [], clientIds = [] }: { schoolIds?: SchoolId[]; clientIds?: ClientId[] } = {},
): Promise<{ app: TestApp; call: AdminClient }> {
  const app = await makeMakers(service.db).app({ scopes: ["admin:read", "admin:write"] });
  const at = service.clock();
  const ends = role === "SUPPORT" ? { reason: "Ticket 17", endsAt: new Date(at.getTime() + 86_400_000) } : {};
  await withPrismaTransaction(service.db, (tx) =>
    giveRole(
      tx,
      { role, holder: { clientId: app.clientId }, schoolIds, clientIds, ...ends },
      { giver: null, origin: { at } },
    ),
  );
  return { app, call: makeAdminClient(service, await issueAppToken(service, app, ["admin:read", "admin:write"])) };
}

/** A teacher of the groups who signed in to an app, and their client. */
export async function makeClassTeacher(
  service: TestService,
  { school, groups }: { school: SchoolId; groups: GroupId[] },
): Promise<{ personId: PersonId; call: AdminClient }> {
  const make = makeMakers(service.db);
  const app = await make.app({ scopes: ["openid", "admin:read", "admin:write"] });
  await make.grant({ app: app.clientId, school });
  const personId = await make.person({ school, role: "TEACHER" });
  for (const group of groups) await make.membership({ group, person: personId, role: "TEACHER" });
  await giveRoleTo(service, personId, "CLASS_TEACHER", { schoolIds: [school] });
  const scopes = ["openid", "admin:read", "admin:write"] as const;
  const { access_token: token } = await getUserTokens(service, app, await giveLogin(service.db, personId), { scopes });
  return { personId, call: makeAdminClient(service, token) };
}
