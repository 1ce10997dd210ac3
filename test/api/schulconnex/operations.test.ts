import { expect, test } from "vitest";
import type { GroupId, SchoolId } from "../../../src/directory/index.ts";
import { loadDocument, resolve } from "../../../src/platform/http/index.ts";
import { demoApp, demoLogin, getReader, makeReader, schulconnex, startDemo, type Read } from "../../support/api.ts";
import { makeMakers } from "../../support/make.ts";
import { makeCheck } from "../../support/schema-check.ts";
import { giveLogin, issueAppToken, getUserTokens } from "../../support/token.ts";

const path = `${schulconnex}/personen-info`;
const school = (n: number) => `a0000000-0000-4000-8000-00000000000${String(n)}`;
const group = (n: number) => `b0000000-0000-4000-8000-00000000000${String(n)}`;
const person = (n: number) => `c0000000-0000-4000-8000-00000000000${String(n)}`;

type Kontext = {
  id: string;
  loeschung: unknown;
  rolle: string;
  organisation: { id: string; typ?: string };
  gruppen?: { gruppe: { id: string } }[];
};
type Datensatz = {
  pid: string;
  person?: { name: unknown; stammorganisation: { id: string } };
  personenkontexte: Kontext[];
};

const records = async (query = "", by = read) => (await by(`${path}${query}`)).body as Datensatz[];
const pids = async (query: string) => (await records(query)).map(({ pid }) => pid).toSorted();

const service = await startDemo();
const make = makeMakers(service.db);
const own = `${schulconnex}/person-info`;
const read = await getReader(service, demoApp("demo-lernapp"));

const organisation = {
  id: school(1),
  kennung: "DE-NI-100001",
  name: "Goethe-Gymnasium Musterstadt",
  anschrift: { postleitzahl: "26121", ort: "Musterstadt" },
  typ: "SCHULE",
};

test("a record is whole: person, home organisation, context, groups and the role in them", async () => {
  const [record] = await records(`?pid=${person(1)}`);
  expect(record).toEqual({
    pid: person(1),
    person: { name: { vorname: "Ada Marie", familienname: "Beispiel" }, stammorganisation: organisation },
    personenkontexte: [
      {
        id: expect.any(String) as string,
        loeschung: null,
        rolle: "LEHR",
        organisation,
        gruppen: [
          {
            gruppe: { id: group(1), bezeichnung: "Klasse 5a", typ: "Klasse", orgid: school(1) },
            gruppenzugehoerigkeit: { rollen: ["Lehr"] },
          },
          {
            gruppe: { id: group(2), bezeichnung: "Mathe 5", typ: "Kurs", orgid: school(1) },
            gruppenzugehoerigkeit: { rollen: ["Lehr"] },
          },
        ],
      },
    ],
  });
});

test("a person without a name has name null", async () => {
  expect((await records(`?pid=${person(3)}`))[0]!.person!.name).toBeNull();
});

test("filters leave those of whom all hold, and nobody where none matches", async () => {
  expect(await pids(`?gruppe.id=${group(1)}`)).toEqual([1, 2, 3, 5].map(person));
  expect(await pids(`?organisation.id=${school(1)}`)).toEqual([1, 2, 3, 5, 7].map(person));
  expect(await pids(`?gruppe.id=${group(2)}&pid=${person(2)}`)).toEqual([person(2)]);
  expect(await pids(`?gruppe.id=${group(2)}&pid=${person(3)}`)).toEqual([]);
  const [record] = await records(`?pid=${person(7)}`);
  expect(await pids(`?personenkontext.id=${record!.personenkontexte[0]!.id}`)).toEqual([person(7)]);
});

test("what the app does not see matches nobody", async () => {
  const filters = [
    `pid=${person(4)}`,
    `gruppe.id=${group(3)}`,
    `gruppe.id=${group(5)}`,
    `organisation.id=${school(3)}`,
  ];
  for (const filter of [...filters, `pid=${person(9)}`]) expect(await records(`?${filter}`), filter).toEqual([]);
});

test("a context at a school that does not sync is no filter for a person seen elsewhere", async () => {
  const { rows } = await service.db.pool.query<{ id: string }>(
    "SELECT id FROM affiliation WHERE person_id = $1 AND school_id = $2",
    [person(7), school(3)],
  );
  expect(await records(`?personenkontext.id=${rows[0]!.id}`)).toEqual([]);
});

const keysOf = (record: Datensatz) => ({
  record: Object.keys(record),
  home: Object.keys(record.person?.stammorganisation ?? {}),
  context: Object.keys(record.personenkontexte[0]!),
  organisation: Object.keys(record.personenkontexte[0]!.organisation),
});
const short = ["id", "loeschung", "rolle", "organisation"];
const whole = ["id", "kennung", "name", "anschrift", "typ"];

test.each([
  ["personen", { record: ["pid", "person", "personenkontexte"], home: ["id"], context: short, organisation: ["id"] }],
  ["personenkontexte", { record: ["pid", "personenkontexte"], home: [], context: short, organisation: ["id"] }],
  [
    "Personenkontexte,GRUPPEN",
    { record: ["pid", "personenkontexte"], home: [], context: [...short, "gruppen"], organisation: ["id"] },
  ],
  ["gruppen", { record: ["pid", "personenkontexte"], home: [], context: short, organisation: ["id"] }],
  [
    "organisationen,personen",
    { record: ["pid", "person", "personenkontexte"], home: whole, context: short, organisation: whole },
  ],
  ["beziehungen", { record: ["pid", "personenkontexte"], home: [], context: short, organisation: ["id"] }],
  [
    "personen,personenkontexte,organisationen,gruppen,beziehungen",
    { record: ["pid", "person", "personenkontexte"], home: whole, context: [...short, "gruppen"], organisation: whole },
  ],
])("vollstaendig=%s gives just these parts", async (parts, keys) => {
  const [record] = await records(`?pid=${person(1)}&vollstaendig=${parts}`);
  expect(keysOf(record!)).toEqual(keys);
  expect(await records(`?pid=${person(1)}&vollstaendig=${encodeURIComponent(parts)}`)).toEqual([record]);
  const repeated = parts
    .split(",")
    .map((part) => `&vollstaendig=${part}`)
    .join("");
  expect(await records(`?pid=${person(1)}${repeated}`)).toEqual([record]);
});

test("an id that is no UUID is without a match", async () => {
  for (const name of ["pid", "personenkontext.id", "gruppe.id", "organisation.id"])
    for (const id of ["x", "4711", `{${person(1)}}`, "'; --", "ä".repeat(500)])
      expect(await records(`?${name}=${encodeURIComponent(id)}`), `${name}=${id}`).toEqual([]);
});

test("each error has the subcode and the title of the standard, and says what is wrong", async () => {
  const app = demoApp("demo-lernapp");
  const [personen, poor, ofPerson] = [
    await issueAppToken(service, app, ["people:read"]),
    await issueAppToken(service, app, ["schools:read"]),
    (await getUserTokens(service, app, demoLogin(2), { scopes: ["openid", "people:read"] })).access_token,
  ];
  const ask = async (at: string, { by = personen, method = "GET" }: { by?: string | null; method?: string } = {}) => {
    const headers = by === null ? {} : { authorization: `Bearer ${by}` };
    const response = await fetch(`${service.url}${schulconnex}${at}`, { method, headers });
    const { code, subcode, titel, beschreibung } = (await response.json()) as Record<string, string>;
    expect([at, String(response.status)]).toEqual([at, code]);
    return `${code}/${subcode} ${titel}: ${beschreibung}`;
  };
  const parts = "Erlaubt: personen, personenkontexte, organisationen, gruppen, beziehungen.";
  const wrong = `400/02 Falsche Parameter: Der Parameter vollstaendig hat keinen gültigen Wert.`;
  const twice = (name: string) => `400/17 Doppelter Filter: Der Filter ${name} darf nur einmal angegeben werden.`;
  const expected: [Promise<string>, string][] = [
    [ask("/personen-info?cursor=1"), "400/00 Fehlerhafte Anfrage: Den Parameter cursor gibt es hier nicht."],
    [ask("/personen-info?limit=0"), "400/02 Falsche Parameter: Der Parameter limit hat keinen gültigen Wert."],
    [ask("/personen-info?%3Cb%3E=1"), "400/00 Fehlerhafte Anfrage: Den Parameter ?b? gibt es hier nicht."],
    [ask("/personen-info?vollstaendig=alles"), `${wrong} ${parts}`],
    [ask("/personen-info?vollstaendig=constructor"), `${wrong} ${parts}`],
    [ask("/personen-info?vollstaendig=personen,,"), `${wrong} ${parts}`],
    [ask("/personen-info?vollstaendig="), wrong],
    [ask("/personen-info?vollstaendig"), wrong],
    [ask(`/personen-info?pid=${person(1)}&pid=x`), twice("pid")],
    [ask(`/personen-info?gruppe.id=${group(1)}&gruppe.id=${group(1)}`), twice("gruppe.id")],
    [
      ask("/personen-info", { by: null }),
      "401/00 Zugang verweigert: Der Header Authorization mit einem Access-Token fehlt.",
    ],
    [
      ask("/personen-info", { by: "x" }),
      "401/02 Invalider Access-Token: Der Access-Token ist unbekannt oder widerrufen.",
    ],
    [
      ask("/personen-info", { by: ofPerson }),
      "401/03 Falsche Autorisierungsmethode: Dieser Endpunkt braucht einen Access-Token aus dem Ablauf Client Credentials (die App selbst).",
    ],
    [
      ask("/person-info"),
      "401/03 Falsche Autorisierungsmethode: Dieser Endpunkt braucht einen Access-Token aus dem Ablauf Authorization Code (Anmeldung einer Person).",
    ],
    [
      ask("/personen-info", { by: poor }),
      "403/00 Fehlende Rechte: Dem Access-Token fehlt der Scope urn:schultor:idm:v1:people:read.",
    ],
    [ask("/nichts"), "404/00 Endpunkt existiert nicht: Unter dieser Adresse gibt es nichts."],
    [ask("/personen-info", { method: "DELETE" }), "405/00 Nicht erlaubt: Dieser Endpunkt beantwortet nur GET."],
    [ask("/personen-info", { method: "POST" }), "405/01 POST/PUT nicht erlaubt: Dieser Endpunkt beantwortet nur GET."],
    [ask("/person-info", { method: "PUT" }), "405/01 POST/PUT nicht erlaubt: Dieser Endpunkt beantwortet nur GET."],
    [ask("/gruppen-info"), "501/00 Der Endpunkt ist nicht implementiert.: Dieser Endpunkt wird nicht angeboten."],
  ];
  for (const [asked, said] of expected) expect(await asked).toBe(said);
  service.clock.forwardSeconds(3601);
  const expired = await ask("/personen-info");
  service.clock.forwardSeconds(-3601);
  expect(expired).toBe("401/01 Access Token abgelaufen: Der Access-Token ist abgelaufen.");
});

test("the home organisation comes first where the app may see it, else the first it may see", async () => {
  const app = await make.app();
  const home = await make.school();
  const [early, late] = [await make.school(), await make.school()].sort() as [SchoolId, SchoolId];
  const groups: GroupId[] = [];
  for (const id of [home, early, late]) groups.push(await make.group({ school: id }));
  const id = await make.person({ schools: [home, late, early], groups, role: "TEACHER" });
  const share = async (...schools: SchoolId[]) => {
    for (const [n, at] of [home, early, late].entries())
      await make.grant({ app: app.clientId, school: at, sync: schools.includes(at), groups: [groups[n]!] });
    const reader = makeReader(service, await issueAppToken(service, app, ["people:read"]));
    const [record] = await records(`?pid=${id}`, reader);
    return [
      record!.person!.stammorganisation.id,
      ...record!.personenkontexte.map((kontext) => kontext.organisation.id),
    ];
  };
  expect(await share(home, early, late)).toEqual([home, home, early, late]);
  expect(await share(early, late)).toEqual([early, early, late]);
  expect(await share(late)).toEqual([late, late]);
});

test("an app registered for version 1.7 reads its spelling, and times with seconds", async () => {
  const app = await make.app({ schulconnexSpelling: "V1_7" });
  const at = await make.school();
  const group17 = await make.group({ school: at, type: "SONSTIG" });
  const teacher = await make.person({ school: at, role: "TEACHER", groups: [group17] });
  const gone = await make.person({ school: at, groups: [group17], status: "SOFT_DELETED" });
  await make.grant({ app: app.clientId, school: at, groups: [group17] });
  const reader = makeReader(service, await issueAppToken(service, app, ["people:read"]));
  const body = await records("", reader);
  const contextOf = (pid: string) => body.find((record) => record.pid === pid)!.personenkontexte[0]!;
  expect(contextOf(teacher)).toMatchObject({
    rolle: "Lehr",
    loeschung: null,
    organisation: { typ: "Schule" },
    gruppen: [{ gruppe: { typ: "Sonstig" }, gruppenzugehoerigkeit: { rollen: ["Lehr"] } }],
  });
  expect(contextOf(gone)).toMatchObject({ rolle: "Lern", loeschung: { zeitpunkt: "2026-03-05T08:00:00Z" } });
  const document = await loadDocument("schulconnex-1.7", "schultor");
  const { content } = resolve(document, document.paths[path]!["get"]!.responses["200"]!);
  expect(makeCheck(document)(content!["application/json"]!.schema!, body)).toBe("");
});

test("staff who do not teach are NLehr in the spelling of version 1.8, and Extern in those before", async () => {
  const at = await make.school();
  const person = await make.person({ school: at, role: "OTHER" });
  const login = await giveLogin(service.db, person);
  const spoken: Record<string, unknown> = {};
  for (const schulconnexSpelling of ["V1_4", "V1_7", "V1_8"] as const) {
    const app = await make.app({ schulconnexSpelling });
    await make.grant({ app: app.clientId, school: at });
    const { access_token } = await getUserTokens(service, app, login, { scopes: ["openid", "people:read"] });
    const { body } = await makeReader(service, access_token)(own);
    const [context] = (body as Datensatz).personenkontexte;
    spoken[schulconnexSpelling] = [context!.rolle, context!.organisation.typ];
  }
  expect(spoken).toEqual({ V1_4: ["EXTERN", "SCHULE"], V1_7: ["Extern", "Schule"], V1_8: ["NLehr", "Schule"] });
});

test("an app with ids of its own reads to the minute when a person is deleted, so that apps cannot compare", async () => {
  const at = await make.school();
  const groups = [await make.group({ school: at })];
  const gone = await make.person({ school: at, groups, status: "SOFT_DELETED" });
  await service.db.prisma.person.update({ where: { id: gone }, data: { purgeAt: new Date("2026-03-05T08:00:59Z") } });
  const timeFor = async (subjectType: "APP" | "SHARED") => {
    const app = await make.app({ schulconnexSpelling: "V1_7", subjectType });
    await make.grant({ app: app.clientId, school: at, groups });
    const body = await records("", makeReader(service, await issueAppToken(service, app, ["people:read"])));
    return body[0]!.personenkontexte[0]!.loeschung;
  };
  expect(await timeFor("SHARED")).toEqual({ zeitpunkt: "2026-03-05T08:00:59Z" });
  expect(await timeFor("APP")).toEqual({ zeitpunkt: "2026-03-05T08:00:00Z" });
});

type Codeliste = { codeliste: string; werte: { code: string; bezeichnung: { de: string; en: string } }[] };

async function readIn(schulconnexSpelling: "V1_4" | "V1_7" | "V1_8") {
  const app = await make.app({ schulconnexSpelling });
  const read = makeReader(service, await issueAppToken(service, app, ["people:read"]));
  const first = await read(`${schulconnex}/codelisten`);
  return { ...first, lists: first.body as Codeliste[], read };
}

test.each([
  ["V1_4", "schulconnex"],
  ["V1_7", "schulconnex-1.7"],
  ["V1_8", "schulconnex-1.8"],
] as const)("an app of the spelling %s gets every code of its contract, and no other", async (spelling, bundle) => {
  const { status, lists } = await readIn(spelling);
  const { components } = await loadDocument(bundle, "schultor");
  expect(status).toBe(200);
  expect(lists.map(({ werte }) => werte.map(({ code }) => code).sort()).sort()).toEqual(
    [...enumsIn(components.schemas)].map((codes) => codes.split(" ")).sort(),
  );
});

/** Every enum within the schemas, its codes sorted and joined by spaces. */
function enumsIn(schema: unknown): Set<string> {
  if (typeof schema !== "object" || schema === null) return new Set();
  if ("enum" in schema) return new Set([(schema.enum as string[]).toSorted().join(" ")]);
  return new Set(Object.values(schema).flatMap((inner) => [...enumsIn(inner)]));
}

test("each code of a list has a name of its own in German and in English", async () => {
  for (const { codeliste, werte } of (await readIn("V1_4")).lists)
    for (const language of ["de", "en"] as const) {
      const names = werte.map(({ bezeichnung }) => bezeichnung[language]);
      expect(
        names.every((name) => name.trim() !== ""),
        codeliste,
      ).toBe(true);
      expect(new Set(names).size, `${codeliste} ${language}`).toBe(werte.length);
    }
});

test("the tag tells the spellings apart and stays the same for all apps of one", async () => {
  const [one, other, newer] = [await readIn("V1_4"), await readIn("V1_4"), await readIn("V1_7")];
  const tag = (read: { headers: Headers }) => read.headers.get("etag")!;
  expect(tag(other)).toBe(tag(one));
  expect(tag(newer)).not.toBe(tag(one));
  const again = await other.read(`${schulconnex}/codelisten`, { "if-none-match": tag(one) });
  expect([again.status, again.body]).toEqual([304, null]);
});

async function readAs(clientId: string, person: number): Promise<Read> {
  const { access_token } = await getUserTokens(service, demoApp(clientId), demoLogin(person), {
    scopes: ["openid", "people:read"],
  });
  return makeReader(service, access_token)(own);
}

test("the signed-in person gets the record that the app's list has of them", async () => {
  const { status, body } = await readAs("demo-lernapp", 2);
  const list = makeReader(service, await issueAppToken(service, demoApp("demo-lernapp"), ["people:read"]));
  const [listed] = (await list(`${schulconnex}/personen-info?pid=c0000000-0000-4000-8000-000000000002`))
    .body as unknown[];
  expect([status, body]).toEqual([200, listed]);
});

test("a person in no synced group has a context at their school, without groups", async () => {
  expect(await readAs("demo-lernapp", 6)).toMatchObject({
    status: 200,
    body: { personenkontexte: [{ rolle: "LEHR", gruppen: [] }] },
  });
});

test("where no school of the person syncs to the app the answer is 404/01", async () => {
  const refused = await readAs("demo-mathe", 2);
  expect(refused).toMatchObject({ status: 404, body: { code: "404", subcode: "01" } });
  expect(refused.headers.get("content-type")).toBe("application/json; charset=utf-8");
});
