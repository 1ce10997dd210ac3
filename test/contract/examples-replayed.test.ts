import { decodeJwt } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { makeIdmClient, makeSchulconnexClient, makeSignOnClient } from "../support/typed-clients.ts";
import { demoApp, demoLogin, idmScopes, startDemo } from "../support/api.ts";
import { basic, getAppToken, getUserTokens, type TokenBody } from "../support/token.ts";
import { findBundle } from "./bundles.ts";
import { makeCheck } from "../support/schema-check.ts";

// The examples are the demo world as demo-lernapp sees it; here the running service is asked for each of them.
const lernapp = demoApp("demo-lernapp");
const school = (n: number) => `a0000000-0000-4000-8000-00000000000${String(n)}`;
const group = (n: number) => `b0000000-0000-4000-8000-00000000000${String(n)}`;
const person = (n: number) => `c0000000-0000-4000-8000-00000000000${String(n)}`;

let idm: ReturnType<typeof makeIdmClient>;
let schulconnex: ReturnType<typeof makeSchulconnexClient>;
let url: string;
let tokens: TokenBody;

beforeAll(async () => {
  const service = await startDemo();
  url = service.url;
  const accessToken = await getAppToken(service, lernapp, idmScopes);
  idm = makeIdmClient({ baseUrl: url, accessToken });
  schulconnex = makeSchulconnexClient({ baseUrl: url, accessToken });
  const scopes = ["openid", "offline_access", "profile", "role", "school", "groups", "people:read"] as const;
  const { browser: _, ...issued } = await getUserTokens(service, lernapp, demoLogin(2), { scopes });
  tokens = issued;
});

const exampleOf = (bundle: string, name: string) =>
  (findBundle(bundle).document.components["examples"]![name] as { value: unknown }).value;
const withId = (id: string) => ({ params: { path: { id } } });
const withDeleted = (id: string) => ({ params: { path: { id }, query: { "show-deleted": true } } });

const reads: [example: string, read: () => Promise<{ data?: unknown }>][] = [
  ["SchoolsOfLernapp", () => idm.GET("/idm/ep/v1/schools")],
  ["GoetheGymnasium", () => idm.GET("/idm/ep/v1/schools/{id}", withId(school(1)))],
  ["RosterOfGoethe", () => idm.GET("/idm/ep/v1/schools/{id}/roster", withId(school(1)))],
  ["UsersOfGoethe", () => idm.GET("/idm/ep/v1/schools/{id}/users", withId(school(1)))],
  ["StudentUser", () => idm.GET("/idm/ep/v1/users/{id}", withId(person(2)))],
  ["UserWithoutName", () => idm.GET("/idm/ep/v1/users/{id}", withId(person(3)))],
  ["SoftDeletedUser", () => idm.GET("/idm/ep/v1/users/{id}", withId(person(5)))],
  ["GroupsOfGoethe", () => idm.GET("/idm/ep/v1/schools/{id}/groups", withId(school(1)))],
  ["GroupsOfGoetheWithDeleted", () => idm.GET("/idm/ep/v1/schools/{id}/groups", withDeleted(school(1)))],
  ["GroupWithMembers", () => idm.GET("/idm/ep/v1/groups/{id}", withId(group(1)))],
  ["PeopleOfGoethe", () => idm.GET("/idm/ep/v1/schools/{id}/people", withId(school(1)))],
  ["PeopleOfGoetheWithDeleted", () => idm.GET("/idm/ep/v1/schools/{id}/people", withDeleted(school(1)))],
  ["EmptyList", () => idm.GET("/idm/ep/v1/schools/{id}/people", withId(school(4)))],
  ["TeacherPerson", () => idm.GET("/idm/ep/v1/people/{id}", withId(person(1)))],
  ["PersonWithoutName", () => idm.GET("/idm/ep/v1/people/{id}", withId(person(3)))],
];

test.each(reads)("the example %s is what the IDM API answers", async (example, read) => {
  expect((await read()).data).toEqual(exampleOf("idm", example));
});

const failures: [response: string, example: string, fail: () => Promise<{ error?: unknown }>][] = [
  ["BadRequest", "malformedId", () => idm.GET("/idm/ep/v1/schools/{id}", withId("1"))],
  ["BadRequest", "unknownParameter", () => idm.GET("/idm/ep/v1/schools", { params: { query: { page: 2 } as object } })],
  ["BadRequest", "malformedLimit", () => idm.GET("/idm/ep/v1/schools", { params: { query: { limit: 0 } } })],
  ["BadRequest", "malformedCursor", () => idm.GET("/idm/ep/v1/schools", { params: { query: { cursor: "x" } } })],
  ["Unauthorized", "missingToken", () => makeIdmClient({ baseUrl: url }).GET("/idm/ep/v1/schools")],
  ["Unauthorized", "invalidToken", () => makeIdmClient({ baseUrl: url, accessToken: "x" }).GET("/idm/ep/v1/schools")],
  [
    "Forbidden",
    "wrongContext",
    () => makeIdmClient({ baseUrl: url, accessToken: tokens.access_token }).GET("/idm/ep/v1/schools"),
  ],
  ["SchoolNotFound", "schoolNotFound", () => idm.GET("/idm/ep/v1/schools/{id}", withId(school(2)))],
  ["OrganizationNotFound", "organizationNotFound", () => idm.GET("/idm/ep/v1/schools/{id}/users", withId(school(2)))],
  ["UserNotFound", "userNotFound", () => idm.GET("/idm/ep/v1/users/{id}", withId(person(9)))],
  ["GroupNotFound", "groupNotFound", () => idm.GET("/idm/ep/v1/groups/{id}", withId(group(3)))],
  ["PersonNotFound", "personNotFound", () => idm.GET("/idm/ep/v1/people/{id}", withId(person(4)))],
];

test.each(failures)("the error %s %s is what the IDM API answers", async (response, example, fail) => {
  const { content } = findBundle("idm").document.components["responses"]![response] as {
    content: Record<string, { examples: Record<string, { value: { type: string } }> }>;
  };
  const { value } = content["application/problem+json"]!.examples[example]!;
  expect((await fail()).error).toEqual({
    ...value,
    type: value.type.replace("http://localhost:3000", url),
    requestId: expect.any(String) as string,
  });
});

describe("Schulconnex", () => {
  /** The ids of contexts and the time of deletion are made when the demo world is loaded. */
  const settle = (records: unknown) =>
    JSON.parse(JSON.stringify(records), (key, value: unknown) =>
      key === "zeitpunkt" || (key === "id" && !/^[ab]0000000/.test(String(value))) ? "made at load" : value,
    ) as unknown;

  test("personen-info answers its example, whole and shortened", async () => {
    const whole = await schulconnex.GET("/idm/schulconnex/v1/personen-info");
    expect(settle(whole.data)).toEqual(settle(exampleOf("schulconnex", "PersonenInfoOfLernapp")));
    const query = { vollstaendig: ["personen"], pid: person(2) };
    const shortened = await schulconnex.GET("/idm/schulconnex/v1/personen-info", { params: { query } });
    expect(settle(shortened.data)).toEqual(settle(exampleOf("schulconnex", "PersonenInfoOnlyPersonen")));
    const page = await schulconnex.GET("/idm/schulconnex/v1/personen-info", {
      params: { query: { limit: 1, offset: person(1) } },
    });
    expect(settle(page.data)).toEqual(settle(exampleOf("schulconnex", "PersonenInfoPage")));
  });

  test("codelisten answers its example", async () => {
    const { data } = await schulconnex.GET("/idm/schulconnex/v1/codelisten");
    expect(data).toEqual(exampleOf("schulconnex", "Codelisten"));
  });

  test("person-info answers its example", async () => {
    const own = makeSchulconnexClient({ baseUrl: url, accessToken: tokens.access_token });
    const { data } = await own.GET("/idm/schulconnex/v1/person-info");
    expect(settle(data)).toEqual(settle(exampleOf("schulconnex", "LernendeRecord")));
  });

  test("what is not offered says so in the standard's form", async () => {
    const { error, response } = await schulconnex.GET("/idm/schulconnex/v1/organisationen-info");
    expect([response.status, error]).toEqual([
      501,
      { code: "501", subcode: "00", titel: expect.any(String) as string, beschreibung: expect.any(String) as string },
    ]);
  });
});

describe("sign-on", () => {
  const check = makeCheck(findBundle("sign-on").document);
  const fault = (schema: string, value: unknown) => check({ $ref: `#/components/schemas/${schema}` }, value);
  const signOn = (accessToken?: string) =>
    makeSignOnClient({ issuerUrl: url, ...(accessToken === undefined ? {} : { accessToken }) });

  const inAnyOrder = (document: unknown) =>
    Object.fromEntries(
      Object.entries(document as object).map(([name, value]) => [
        name,
        Array.isArray(value) ? (value as string[]).toSorted() : (value as unknown),
      ]),
    );

  test("the token response and the claims of the ID token are as described, with no claim beside them", () => {
    expect(fault("TokenResponse", tokens)).toBe("");
    expect(fault("IdTokenClaims", decodeJwt(tokens.id_token!))).toBe("");
  });

  test("the claims endpoint answers its example", async () => {
    const { data } = await signOn(tokens.access_token).GET("/oauth2/userinfo");
    expect(data).toEqual(exampleOf("sign-on", "StudentUserinfo"));
  });

  test("looking at a token answers what is described", async () => {
    const headers = basic(lernapp);
    const good = await signOn().POST("/oauth2/introspect", { body: { token: tokens.access_token }, headers });
    expect([fault("Introspection", good.data), good.data?.active, good.data?.sub]).toEqual(["", true, person(2)]);
    const other = await signOn().POST("/oauth2/introspect", { body: { token: "x" }, headers });
    expect(other.data).toEqual(exampleOf("sign-on", "InactiveToken"));
  });

  test("keys and discovery are as described", async () => {
    const keys = await (await fetch(`${url}/.well-known/jwks.json`)).json();
    expect(fault("JsonWebKeySet", keys)).toBe("");
    const { data } = await signOn().GET("/.well-known/openid-configuration");
    const described = JSON.stringify(exampleOf("sign-on", "Discovery"))
      .replaceAll("http://localhost:3000", url)
      .replaceAll("<platform>", "schultor");
    expect(inAnyOrder(data)).toMatchObject(inAnyOrder(JSON.parse(described)));
  });

  test("a wrong secret is a 400 at the token endpoint and a 401 at the others", async () => {
    const headers = basic({ ...lernapp, clientSecret: "wrong" });
    const token = await signOn().POST("/oauth2/token", { body: { grant_type: "client_credentials" }, headers });
    const revoked = await signOn().POST("/oauth2/revoke", { body: { token: "x" }, headers });
    expect([token.response.status, revoked.response.status]).toEqual([400, 401]);
    expect([fault("OAuthError", token.error), fault("OAuthError", revoked.error)]).toEqual(["", ""]);
  });
});
