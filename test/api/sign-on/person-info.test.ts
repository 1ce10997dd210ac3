import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import type { NewApp } from "../../../src/access/index.ts";
import type { SchoolId } from "../../../src/directory/index.ts";
import { makeBrowser } from "../../support/browser.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { askFor, exchange, getUserTokens, giveLogin } from "../../support/token.ts";

const service = await startService();
const make = makeMakers(service.db);

const rufname = "urn:schulconnex:de:person:name:rufname";
const rolle = "urn:schulconnex:de:personenkontext:rolle";
const kennung = "urn:schulconnex:de:personenkontext:organisation:kennung";
const name = { firstFull: "Bo Emil", firstCall: "Bo", last: "Muster" };

let count = 0;
const makeSchool = () => make.school({ officialId: `DE-NI-88${++count}` });

type Wishes = Partial<NewApp> & {
  withholds?: "PERSON_NAME" | "SCHOOL_OFFICIAL_ID";
  schools?: SchoolId[];
  role?: "TEACHER" | "OTHER";
};

async function makeLogin({ withholds, schools = [], role = "TEACHER", ...wishes }: Wishes) {
  const at = [await makeSchool(), ...schools] as [SchoolId, ...SchoolId[]];
  const app = await make.app({ scopes: ["openid", "profile", "role", "person-info"], ...wishes });
  for (const school of at) await make.grant({ app: app.clientId, school });
  if (withholds) await make.withheld({ app: app.clientId, school: at[0], attributes: [withholds] });
  return { app, login: await giveLogin(service.db, await make.person({ schools: at, name, role })) };
}

type Scope = "profile" | "role" | "person-info";

async function readClaims(wishes: Wishes, scopes: Scope[] = ["person-info"]) {
  const { app, login } = await makeLogin(wishes);
  const tokens = await getUserTokens(service, app, login, { scopes: ["openid", ...scopes] });
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  const { sub, ...userinfo } = (await (await fetch(`${service.url}/oauth2/userinfo`, { headers })).json()) as object & {
    sub: string;
  };
  const inToken: Record<string, unknown> = decodeJwt(tokens.id_token!);
  expect(inToken).toMatchObject({ sub, ...userinfo });
  expect(Object.keys(inToken).filter((claim) => claim.startsWith("urn:")).length).toBe(
    scopes.includes("person-info") ? 3 : 0,
  );
  return userinfo as Record<string, unknown>;
}

test("person-info adds names, role and official id of the school, and nothing else", async () => {
  expect(await readClaims({})).toEqual({
    given_name: "Bo Emil",
    family_name: "Muster",
    [rufname]: "Bo",
    [rolle]: "LEHR",
    [kennung]: expect.stringMatching(/^DE-NI-88/),
  });
  expect(await readClaims({}, ["role"])).toEqual({ role: "TEACHER" });
});

test("the role is spelled as the app is registered", async () => {
  const roles: unknown[] = [];
  for (const schulconnexSpelling of ["V1_4", "V1_7", "V1_8"] as const)
    roles.push((await readClaims({ schulconnexSpelling, role: "OTHER" }))[rolle]);
  expect(roles).toEqual(["EXTERN", "Extern", "NLehr"]);
});

test("what the app was not granted or a school withholds is null", async () => {
  const names = { given_name: null, family_name: null, [rufname]: null };
  for (const wishes of [{ attributes: ["SCHOOL_OFFICIAL_ID"] }, { withholds: "PERSON_NAME" }] as Wishes[])
    expect(await readClaims(wishes)).toMatchObject({
      ...names,
      [rolle]: "LEHR",
      [kennung]: expect.any(String) as string,
    });
  for (const wishes of [{ attributes: ["PERSON_NAME"] }, { withholds: "SCHOOL_OFFICIAL_ID" }] as Wishes[])
    expect(await readClaims(wishes)).toMatchObject({ given_name: "Bo Emil", [rolle]: "LEHR", [kennung]: null });
});

test("a person at several schools chooses the one of the claims", async () => {
  const other = await makeSchool();
  const { officialId } = (await service.db.prisma.school.findUnique({ where: { id: other } }))!;
  const { app, login } = await makeLogin({ schools: [other] });
  const browser = makeBrowser(service.url);
  const asked = askFor(service, app, { scopes: ["openid", "person-info"] });
  const choose = await browser.submit(await browser.open(asked.address), "/login", login);
  const consent = await browser.submit(choose, "/school", { schoolId: other });
  expect(consent.html).toContain(officialId);
  const back = new URL((await browser.submit(consent, "/consent")).url);
  const { body } = await exchange(service, app, { browser, asked, back });
  expect(decodeJwt(body.id_token!)).toMatchObject({ [rolle]: "LEHR", [kennung]: officialId });
});

test("an app without the scope is refused it", async () => {
  const { app, login } = await makeLogin({ scopes: ["openid", "profile"] });
  await expect(getUserTokens(service, app, login, { scopes: ["openid", "person-info"] })).rejects.toThrow();
});
