import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { findConnection, listRefusals, type NewConnection, type SetUpLinkId } from "../../src/upstream/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { giveLogin } from "../support/token.ts";
import { startUpstreamProvider } from "../support/upstream-provider.ts";
import { encryptionKeys, makeRelyingParty } from "../support/upstream.ts";

// Servers of IServ as schools run them: each answers as one of them does.
const db = await testDatabase();
const make = makeMakers(db);
const party = makeRelyingParty(db);

type Server = { released?: string[]; basicRefused?: boolean; wishes?: Partial<NewConnection> };

/** A server of IServ, and a school with one pupil that the roster knows by an import id. */
async function startIserv({ released, basicRefused = false, wishes = {} }: Server = {}) {
  const server = await startUpstreamProvider({ authMethod: "client_secret_post" });
  if (released !== undefined) server.released = new Set(released);
  if (basicRefused)
    server.before = (req, res) => {
      if (req.url !== "/token" || req.headers.authorization === undefined) return false;
      res.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error: "invalid_request" }));
      return true;
    };
  const school = await make.school();
  const personId = await make.person({ school, sourceSystemIdentifier: "4711" });
  await giveLogin(db, personId);
  const connection = await party.connect(server, school, { profile: "ISERV", ruleClaim: "import_id", ...wishes });
  const signIn = async (claims: object, account = "anna.beispiel") => {
    server.account = account;
    server.claims[account] = claims as Record<string, unknown>;
    return party.codeOf(party.signIn(server, connection));
  };
  let link: SetUpLinkId | undefined;
  const test = async (claims: object) => {
    link ??= await party.openLink(connection);
    server.account = "anna.beispiel";
    server.claims["anna.beispiel"] = claims as Record<string, unknown>;
    const finished = await party.signIn(server, connection, { to: { test: link } });
    if (finished.kind !== "tested") throw new Error(JSON.stringify(finished));
    const { subject, scopes, match, claims: arrived } = finished.tested;
    return { subject, scopes, match, ...Object.fromEntries(arrived.map(({ name, values }) => [name, values])) };
  };
  const asked = () => server.requests.filter(({ path }) => path === "/auth").map(({ query }) => query.get("scope"));
  const subjects = async () =>
    (await db.prisma.upstreamLink.findMany({ where: { connectionId: connection } })).map(({ subject }) => subject);
  return { server, connection, personId, signIn, test, asked, subjects };
}

const pupil = { import_id: "4711", uuid: "b2a1", preferred_username: "anna.beispiel" };
const group = { id: 12, act: "klasse7b", name: "Klasse 7b", uuid: "0b1c", displayName: "Klasse 7b" };

test("groups and roles arrive as older and newer servers send them, and change nothing here", async () => {
  const iserv = await startIserv();
  const shapes: Record<string, [sent: unknown, values: string[]]>[] = [
    {
      groups: [
        ["Klasse 7b", "AG Schach"],
        ["Klasse 7b", "AG Schach"],
      ],
      "iserv:groups": [["klasse7b"], ["klasse7b"]],
      iserv_groups: [["klasse7b"], ["klasse7b"]],
      roles: [
        ["Schüler", "Lehrer"],
        ["Schüler", "Lehrer"],
      ],
      "iserv:roles": [[{ id: "ROLE_TEACHER", displayName: "Lehrer" }], ["ROLE_TEACHER"]],
    },
    {
      groups: [[group], ["0b1c"]],
      "iserv:groups": [[group], ["0b1c"]],
      iserv_groups: [[{ act: "klasse7b", name: "Klasse 7b" }], ["klasse7b"]],
      roles: [["ROLE_TEACHER"], ["ROLE_TEACHER"]],
    },
    { groups: [[{ id: 12, act: "klasse7b" }], ["12"]] },
    { groups: [{ 12: group }, [`{"12":${JSON.stringify(group)}}`]] },
    { groups: [[], []] },
  ];
  const match = { kind: "one", personId: iserv.personId };
  for (const shape of shapes) {
    const of = (at: 0 | 1) => Object.fromEntries(Object.entries(shape).map(([name, pair]) => [name, pair[at]]));
    expect(await iserv.test({ ...pupil, ...of(0) })).toMatchObject({ subject: "b2a1", match, ...of(1) });
    expect([shape, await iserv.signIn({ ...pupil, ...of(0) })]).toEqual([shape, "signed_in"]);
  }
  expect(await db.prisma.membership.count({ where: { personId: iserv.personId } })).toBe(0);
  expect(await db.prisma.staffRole.count({ where: { personId: iserv.personId } })).toBe(0);
});

describe("the uuid is the key", () => {
  test("in each of its spellings, also after the account is renamed there", async () => {
    const { signIn, subjects } = await startIserv();
    const spellings = [{ uuid: "b2a1" }, { "iserv:uuid": "b2a1" }, { iserv_uuid: "b2a1" }, { uuid: ["b2a1"] }];
    for (const [n, claims] of [...spellings, { uuid: { id: 5, uuid: "b2a1" } }].entries()) {
      const account = n % 2 === 0 ? "anna.beispiel" : "anna.neu";
      expect([claims, await signIn({ import_id: 4711, ...claims }, account)]).toEqual([claims, "signed_in"]);
    }
    expect(await subjects()).toEqual(["b2a1"]);
  });

  test("where it is not released, nobody is signed in by another key in its place", async () => {
    const { connection, signIn, subjects, test: tried } = await startIserv({ released: ["openid", "profile"] });
    const { uuid: _uuid, ...claims } = pupil;
    expect(await signIn(claims)).toBe("CLAIM_MISSING");
    // Nothing that staff could link: a link by another key would never be found again.
    const [refusal] = await listRefusals(db, { connectionId: connection, limit: 1 }, encryptionKeys);
    expect(refusal).toMatchObject({ code: "CLAIM_MISSING", subject: null });
    expect(await tried(claims)).toMatchObject({ subject: null, match: { kind: "refused", code: "CLAIM_MISSING" } });
    expect(await subjects()).toEqual([]);
  });

  test("a school without it can choose `sub`", async () => {
    const { signIn, subjects } = await startIserv({ wishes: { subjectClaim: "sub" } });
    const { uuid: _uuid, ...claims } = pupil;
    expect(await signIn(claims)).toBe("signed_in");
    expect(await subjects()).toEqual(["anna.beispiel"]);
  });
});

/** What the admins of schools release, the most first. */
const releases = [
  "openid profile iserv:uuid iserv:groups iserv:roles",
  "openid profile uuid groups roles",
  "openid profile iserv:uuid",
  "openid profile uuid",
  "openid profile",
];

describe("scopes", () => {
  test("a server that releases only some is asked in steps, and once the connection is tested without detours", async () => {
    const { server, signIn, test: tried, asked, connection } = await startIserv({ wishes: { subjectClaim: "sub" } });
    const { scopes } = (await findConnection(db, connection))!;
    for (const [index, released] of releases.entries()) {
      server.released = new Set(released.split(" "));
      await db.prisma.upstreamConnection.update({ where: { id: connection }, data: { scopes } });
      const askedBy = async (work: () => Promise<unknown>) => {
        const before = asked().length;
        await work();
        return asked().slice(before);
      };
      // A pupil cannot make that last.
      for (const _time of [1, 2]) expect(await askedBy(() => signIn(pupil))).toEqual(releases.slice(0, index + 1));
      expect(await tried(pupil)).toMatchObject({ scopes: released.split(" ") });
      expect((await findConnection(db, connection))!.scopes).toEqual(released.split(" "));
      expect(await askedBy(async () => expect(await signIn(pupil)).toBe("signed_in"))).toEqual([released]);
    }
  });

  test("a server that releases nothing is not asked for ever", async () => {
    const { signIn, asked } = await startIserv({ released: [] });
    expect(await signIn(pupil)).toBe("SCOPE_REFUSED");
    expect(asked()).toEqual(releases);
  });
});

describe("the secret", () => {
  test("is sent in the body alone: a server that answers a Basic header with 400 signs in", async () => {
    const { signIn, server } = await startIserv({ basicRefused: true });
    expect(await signIn(pupil)).toBe("signed_in");
    expect(server.requests.filter(({ path }) => path === "/token").map((one) => one.authorization)).toEqual([
      undefined,
    ]);
  });

  test("in the header, which somebody may have chosen, fails with a reason for the school's IT", async () => {
    const wishes = { authMethod: "client_secret_basic" } as const;
    const { signIn, connection } = await startIserv({ basicRefused: true, wishes });
    expect(await signIn(pupil)).toBe("INVALID_RESPONSE");
    expect((await findConnection(db, connection))!.lastFailure).toBe("INVALID_RESPONSE");
  });
});

test("with `prompt=login` and `max_age=0`, an old sign-in there is refused", async () => {
  const { server, connection } = await startIserv();
  server.account = "anna.beispiel";
  server.claims["anna.beispiel"] = pupil;
  const fresh = await party.signIn(server, connection, { prompt: "login", maxAge: 0 });
  expect(await party.codeOf(fresh)).toBe("signed_in");
  const [last] = server.requests.filter(({ path }) => path === "/auth").slice(-1);
  expect(Object.fromEntries(last!.query)).toMatchObject({ prompt: "login", max_age: "0" });
  for (const auth_time of [Math.floor(Date.now() / 1000) - 600, undefined]) {
    server.after = async (path, body) =>
      path === "/token"
        ? { ...body, id_token: await server.sign({ ...decodeJwt(String(body["id_token"])), auth_time }) }
        : body;
    const old = await party.signIn(server, connection, { prompt: "login", maxAge: 0 });
    expect(await party.codeOf(old)).toBe("INVALID_RESPONSE");
  }
});
