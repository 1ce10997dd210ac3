import { randomUUID } from "node:crypto";
import type { ExpectationId } from "../../../clients/tools/src/check-schulconnex/expectations.ts";
import type { Answered, Asked, Fault } from "./proxy.ts";

type Kontext = {
  id: string;
  rolle: unknown;
  organisation: Record<string, unknown>;
  gruppen?: { gruppe: Record<string, unknown> }[];
};
export type Datensatz = { pid: unknown; person?: { name: unknown }; personenkontexte: Kontext[] };

/** What a provider does wrong, and the checks that differ for it. */
export type Planted = { fault: string; ids: readonly ExpectationId[] } & Fault;

/** `people` are two of the list. */
export type People = { first: string; other: string; name: string };

const isList = ({ path, method }: Asked): boolean => path === "personen-info" && method === "GET";
const isPage = ({ query }: Asked): boolean => query.has("limit") || query.has("offset");
const hasFilter = ({ query }: Asked): boolean => [...query.keys()].some((name) => /^pid$|\.id$/.test(name));
const bearer = ({ headers }: Asked): string => (headers["authorization"] ?? "").replace(/^Bearer /, "");

/** Changes the records of each list that is as described. */
const records =
  (change: (records: Datensatz[], asked: Asked) => Datensatz[] | void, of: (asked: Asked) => boolean = () => true) =>
  (answered: Answered, asked: Asked): void => {
    if (!isList(asked) || answered.status !== 200 || !of(asked)) return;
    const list = JSON.parse(answered.body) as Datensatz[];
    answered.body = JSON.stringify(change(list, asked) ?? list);
  };

/** Changes one person's record wherever it is read. */
const record = (pid: string, change: (record: Datensatz) => void) =>
  records((list) => {
    for (const one of list) if (one.pid === pid) change(one);
  });

const error = (change: (body: Record<string, unknown>, asked: Asked) => void) => (answered: Answered, asked: Asked) => {
  if (answered.status < 400 || asked.path === "token" || answered.body === "") return;
  const body = JSON.parse(answered.body) as Record<string, unknown>;
  change(body, asked);
  answered.body = JSON.stringify(body);
};

const answer = (status: number, subcode: string): Partial<Answered> => ({
  status,
  body: JSON.stringify({ code: String(status), subcode, titel: "t", beschreibung: "b" }),
});

const emptyList = { status: 200, headers: { "content-type": "application/json", etag: '"e"' }, body: "[]" };

/** Providers that do several things wrong, each found by another check. */
export const makeProviders = ({ first, other, name }: People): readonly (readonly Planted[])[] => [
  [
    {
      fault: "leads one address elsewhere",
      ids: ["no-redirect", "not-offered"],
      after: (answered, { path }) => {
        if (path === "policies-info")
          Object.assign(answered, { status: 302, headers: { location: "https://elsewhere.example/" }, body: "" });
      },
    },
    {
      fault: "lets tokens be stored",
      ids: ["token-issued"],
      after: ({ headers }, { path }) => void (path === "token" && delete headers["cache-control"]),
    },
    {
      fault: "takes any secret",
      ids: ["token-refused"],
      after: (answered, { path }) =>
        void (path === "token" && answered.status === 401 && Object.assign(answered, { status: 200, body: '{"access_token":"x","token_type":"bearer"}' })),
    },
    {
      fault: "answers a missing token with 403",
      ids: ["token-missing"],
      after: (answered, asked) =>
        void (
          isList(asked) &&
          bearer(asked) === "" &&
          !asked.query.has("access_token") &&
          asked.headers["authorization"] === undefined &&
          Object.assign(answered, answer(403, "00"))
        ),
    },
    {
      fault: "answers Basic with 400",
      ids: ["token-malformed"],
      after: (answered, asked) =>
        void (asked.path !== "token" && bearer(asked).startsWith("Basic") && Object.assign(answered, answer(400, "00"))),
    },
    {
      fault: "has one subcode for all tokens",
      ids: ["token-unknown"],
      after: error((body) => void (body["code"] === "401" && body["subcode"] === "02" && (body["subcode"] = "00"))),
    },
    {
      fault: "says that an expired token is unknown",
      ids: ["token-expired"],
      after: error((body) => void (body["code"] === "401" && body["subcode"] === "01" && (body["subcode"] = "02"))),
    },
    {
      fault: "takes a token from the address",
      ids: ["token-in-query"],
      before: ({ query, headers }) => {
        const token = query.get("access_token");
        if (token === null) return;
        query.delete("access_token");
        headers["authorization"] = `Bearer ${token}`;
      },
    },
    {
      fault: "does not say how to authenticate",
      ids: ["token-challenge"],
      after: ({ headers }, { path }) => void (path !== "token" && delete headers["www-authenticate"]),
    },
    {
      fault: "answers POST with 404",
      ids: ["wrong-method"],
      after: (answered, { method, path }) =>
        void (path !== "token" && method === "POST" && Object.assign(answered, answer(404, "00"))),
    },
    {
      fault: "has no code of its own for unknown addresses",
      ids: ["unknown-path"],
      after: (answered) => void (answered.status === 404 && Object.assign(answered, answer(400, "00"))),
    },
  ],
  [
    {
      fault: "takes a person's token for the whole list",
      ids: ["token-kind"],
      after: (answered, { path }) =>
        void (path === "personen-info" && answered.body.includes('"03"') && Object.assign(answered, emptyList)),
    },
    {
      fault: "calls JSON text",
      ids: ["content-type", "head"],
      after: ({ headers }, asked) => void (isList(asked) && (headers["content-type"] = "text/plain")),
    },
    {
      fault: "does not say which methods there are",
      ids: ["wrong-method"],
      after: ({ headers }) => void delete headers["allow"],
    },
    {
      fault: "hides what it does not offer",
      ids: ["not-offered"],
      after: (answered, { path }) => void (path === "gruppen-info" && Object.assign(answered, answer(404, "00"))),
    },
    {
      fault: "leaves out a role",
      ids: ["record-fields"],
      after: record(first, ({ personenkontexte }) => void delete personenkontexte[0]!.rolle),
    },
    {
      fault: "has codes of its own",
      ids: ["record-codes"],
      after: record(other, ({ personenkontexte }) => void (personenkontexte[0]!.rolle = "Hausmeister")),
    },
    {
      fault: "gives two contexts one id",
      ids: ["ids-unique"],
      after: record(
        other,
        ({ personenkontexte }) => void personenkontexte.push({ ...personenkontexte[0]!, gruppen: [] }),
      ),
    },
    {
      fault: "gives a group another organisation",
      ids: ["references"],
      after: records((list) => {
        for (const { personenkontexte } of list)
          for (const { gruppen = [] } of personenkontexte)
            for (const { gruppe } of gruppen) gruppe["orgid"] = randomOrg;
      }),
    },
    {
      fault: "ignores an unknown part",
      ids: ["parts-unknown"],
      before: ({ query }) => void (query.get("vollstaendig") === "nothing" && query.delete("vollstaendig")),
    },
    {
      fault: "takes a filter twice",
      ids: ["filter-twice"],
      before: ({ query }) => {
        for (const [key, value] of [...query]) query.set(key, value);
      },
    },
    {
      fault: "has numbers for codes of errors",
      ids: ["error-body"],
      after: error((body) => void (body["code"] = Number(body["code"]))),
    },
    {
      fault: "names a person in an error",
      ids: ["error-private"],
      after: error(
        (body, { query }) => void (query.has("vollstaendig") && (body["beschreibung"] = `${name} hat das nicht.`)),
      ),
    },
  ],
  [
    {
      fault: "stops in the middle of a list",
      ids: ["list-read"],
      after: (answered, asked) =>
        void (
          isList(asked) &&
          asked.query.get("gruppe.id") !== null &&
          answered.status === 200 &&
          (answered.body = answered.body.slice(0, -1))
        ),
    },
    {
      fault: "refuses HEAD",
      ids: ["head"],
      after: (answered, { method }) => void (method === "HEAD" && (answered.status = 405)),
    },
    {
      fault: "has a new ETag for each answer",
      ids: ["etag", "not-modified", "head"],
      after: (answered, asked) =>
        void (
          answered.status < 400 &&
          asked.path === "personen-info" &&
          (answered.headers["etag"] = `"${randomUUID()}"`)
        ),
    },
    {
      fault: "counts pids",
      ids: ["record-fields"],
      after: record(first, (one) => void (one.personenkontexte[0]!.id = 4711 as never)),
    },
    {
      fault: "leaves out a first name",
      ids: ["record-fields"],
      after: record(other, ({ person }) => void delete (person!.name as { vorname?: string }).vorname),
    },
    {
      fault: "calls a group differently for one person",
      ids: ["references"],
      after: record(
        other,
        ({ personenkontexte }) => void (personenkontexte[0]!.gruppen![0]!.gruppe["bezeichnung"] = "5 a"),
      ),
    },
    {
      fault: "gives all parts always",
      ids: ["parts"],
      before: ({ query }) => void (query.get("vollstaendig") !== "nothing" && query.delete("vollstaendig")),
    },
    {
      fault: "leaves somebody out of a group",
      ids: ["filter-group"],
      after: records(
        (list) => list.slice(1),
        ({ query }) => query.has("gruppe.id"),
      ),
    },
    {
      fault: "shortens records that an organisation is asked for",
      ids: ["filter-organisation"],
      before: ({ query }) => void (query.has("organisation.id") && query.set("vollstaendig", "personen")),
    },
    {
      fault: "does not find a filter's id",
      ids: ["filter-none"],
      after: (answered, asked) =>
        void (
          isList(asked) &&
          hasFilter(asked) &&
          answered.body === "[]" &&
          Object.assign(answered, answer(404, "01"))
        ),
    },
    {
      fault: "has subcode 00 for a filter given twice",
      ids: ["filter-twice"],
      after: error((body) => void (body["subcode"] === "17" && (body["subcode"] = "00"))),
    },
    {
      fault: "answers an unknown address with a page",
      ids: ["error-body", "unknown-path", "content-type"],
      after: (answered) =>
        void (
          answered.status === 404 &&
          Object.assign(answered, { headers: { "content-type": "text/html" }, body: "<h1>Not found</h1>" })
        ),
    },
    {
      fault: "repeats the token in an error",
      ids: ["error-private"],
      after: error((body, asked) => void (body["code"] === "404" && (body["beschreibung"] = `Token ${bearer(asked)}`))),
    },
    {
      fault: "gives the person who signed in another pid",
      ids: ["person-same"],
      after: (answered, { path }) => {
        if (path === "person-info" && answered.status === 200)
          answered.body = answered.body.replace(/"rolle":"\w+"/, '"rolle":"EXTERN"');
      },
    },
  ],
  [
    {
      fault: "has no ETag",
      ids: ["etag"],
      after: (answered, { path }) => void (path === "personen-info" && delete answered.headers["etag"]),
    },
    {
      fault: "gives everybody a new pid each time",
      ids: ["stable", "filter-pid", "filter-group"],
      after: records(
        (list) => void list.forEach((one) => (one.pid = randomUUID())),
        (asked) => !isPage(asked),
      ),
    },
  ],
  [
    {
      fault: "answers 304 to any ETag",
      ids: ["not-modified"],
      after: (answered, { headers, path }) =>
        void (
          headers["if-none-match"] &&
          path === "personen-info" &&
          Object.assign(answered, { status: 304, body: "" })
        ),
    },
    {
      fault: "changes records without a new ETag",
      ids: ["stable"],
      after: record(
        first,
        ({ personenkontexte }) => void (personenkontexte[0]!.organisation["kennung"] = randomUUID()),
      ),
    },
    {
      fault: "ignores the pid",
      ids: ["filter-pid", "filter-none", "filter-both", "filter-twice"],
      before: ({ query }) => void query.delete("pid"),
    },
    {
      fault: "gives the person who signed in no pid",
      ids: ["person-record"],
      after: (answered, { path }) => {
        if (path === "person-info" && answered.status === 200) answered.body = answered.body.replace('"pid"', '"id"');
      },
    },
  ],
  [
    {
      fault: "lists somebody twice",
      ids: ["ids-unique"],
      after: records((list, asked) => (hasFilter(asked) || isPage(asked) ? list : [...list, list[0]!])),
    },
    {
      fault: "ignores If-None-Match",
      ids: ["not-modified"],
      before: ({ headers }) => void delete headers["if-none-match"],
    },
    {
      fault: "needs one of two filters only",
      ids: ["filter-both"],
      before: ({ query }) => void (query.has("pid") && query.has("personenkontext.id") && query.delete("pid")),
    },
    {
      fault: "ignores a context's id",
      ids: ["filter-context"],
      before: ({ query }) => void (!query.has("pid") && query.delete("personenkontext.id")),
    },
  ],
];

const randomOrg = randomUUID();
