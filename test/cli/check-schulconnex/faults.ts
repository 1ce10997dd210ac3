import { randomUUID } from "node:crypto";
import type { ExpectationId } from "../../../clients/tools/src/check-schulconnex/expectations.ts";
import type { Answered, Asked, Fault } from "./proxy.ts";

type Kontext = {
  id: unknown;
  rolle?: unknown;
  organisation: Record<string, unknown>;
  gruppen?: { gruppe: Record<string, unknown> }[];
};
type Datensatz = { pid: unknown; person?: { name: Record<string, unknown> }; personenkontexte: Kontext[] };

/** What a provider does wrong, and the checks that find it; other faults would be hidden by one that stands alone. */
export type Planted = Fault & { ids: readonly ExpectationId[]; isAlone?: boolean };

/** The ids of two people who have names and groups; the family name of the first. */
export type People = { first: string; other: string; name: string };

type Request = (asked: Asked) => boolean;
const isList: Request = ({ path, method }) => path === "personen-info" && method === "GET";
const isPage: Request = ({ query }) => query.has("limit") || query.has("offset");
const isWhole: Request = (asked) => isList(asked) && asked.query.size === 0 && !asked.headers["if-none-match"];
const bearer = ({ headers }: Asked): string => (headers["authorization"] ?? "").replace(/^Bearer /, "");

/** Answers requests in another way. */
const answering = (of: Request, other: Partial<Answered>): Fault => ({
  after: (answered, asked) => void (of(asked) && Object.assign(answered, other)),
});

/** Passes on another query. */
const asking = (change: (query: URLSearchParams) => void): Fault => ({ before: ({ query }) => change(query) });

/** Changes headers of answers. */
const heading = (of: Request, change: (headers: Record<string, string>) => void): Fault => ({
  after: ({ headers }, asked) => void (of(asked) && change(headers)),
});

/** Changes the lists that are as described. */
const listing = (of: Request, change: (records: Datensatz[]) => Datensatz[] | undefined): Fault => ({
  after: (answered, asked) => {
    if (!isList(asked) || answered.status !== 200 || !of(asked)) return;
    const list = JSON.parse(answered.body) as Datensatz[];
    answered.body = JSON.stringify(change(list) ?? list);
  },
});

/** Changes one person's record wherever it is read. */
const recording = (pid: string, change: (record: Datensatz) => void): Fault => ({
  after: (answered) => {
    if (answered.status !== 200 || !answered.body.includes(pid)) return;
    const body = JSON.parse(answered.body) as Datensatz | Datensatz[];
    for (const one of [body].flat()) if (one.pid === pid) change(one);
    answered.body = JSON.stringify(body);
  },
});

/** Changes the bodies of errors. */
const failing = (change: (body: Record<string, unknown>, asked: Asked) => void): Fault => ({
  after: (answered, asked) => {
    if (answered.status < 400 || asked.path === "token" || !answered.body.startsWith("{")) return;
    const body = JSON.parse(answered.body) as Record<string, unknown>;
    change(body, asked);
    answered.body = JSON.stringify(body);
  },
});

const error = (status: number, subcode: string): Partial<Answered> => ({
  status,
  body: JSON.stringify({ code: String(status), subcode, titel: "Fehler", beschreibung: "Ein Fehler." }),
});
const subcodeFor = (code: string, from: string, to: string): Fault =>
  failing((body) => void (body["code"] === code && body["subcode"] === from && (body["subcode"] = to)));
const emptyList = { status: 200, headers: { "content-type": "application/json", etag: '"e"' }, body: "[]" };

/** True for the nth whole list that is read. */
const nthRead = (n: number): Request => {
  let reads = 0;
  return (asked) => isWhole(asked) && ++reads === n;
};

const plant = (fault: Fault, ...ids: ExpectationId[]): Planted => ({ ...fault, ids });
const plantAlone = (fault: Fault, ...ids: ExpectationId[]): Planted => ({ ...fault, ids, isAlone: true });

/** Faults that each have a check of their own, by what the provider does wrong. */
export const plantFaults = ({ first, other, name }: People): Readonly<Record<string, Planted>> => ({
  "leads to another host": plant(
    answering(({ path }) => path === "policies-info", {
      status: 302,
      headers: { location: "https://elsewhere.example/" },
      body: "",
    }),
    ...(["no-redirect", "not-offered"] as const),
  ),
  "lets tokens be stored": plant(
    heading(
      ({ path }) => path === "token",
      (headers) => void delete headers["cache-control"],
    ),
    "token-issued",
  ),
  "gives no reason for a wrong secret": plant(
    { after: (answered, { path }) => void (path === "token" && answered.status >= 400 && (answered.body = "{}")) },
    "token-refused",
  ),
  "answers a missing token with 403": plant(
    answering(
      (asked) => isList(asked) && !asked.headers["authorization"] && !asked.query.has("access_token"),
      error(403, "00"),
    ),
    "token-missing",
  ),
  "answers Basic with 400": plant(
    answering((asked) => isList(asked) && bearer(asked).startsWith("Basic"), error(400, "00")),
    "token-malformed",
  ),
  "has one subcode for all tokens": plant(subcodeFor("401", "02", "00"), "token-unknown"),
  "does not know that a token expired": plant(subcodeFor("401", "01", "02"), "token-expired"),
  "takes a token from the address": plant(
    {
      before: ({ query, headers }) => {
        if (query.has("access_token")) headers["authorization"] = `Bearer ${query.get("access_token")}`;
        query.delete("access_token");
      },
    },
    "token-in-query",
  ),
  "takes a person's token for the list": plant(
    {
      after: (answered, asked) =>
        void (isList(asked) && answered.body.includes('"03"') && Object.assign(answered, emptyList)),
    },
    "token-kind",
  ),
  "does not say how to authenticate": plant(
    heading(isList, (headers) => void delete headers["www-authenticate"]),
    "token-challenge",
  ),
  "stops in the middle of a list": plantAlone(
    {
      after: (answered, asked) =>
        void (asked.query.has("gruppe.id") && answered.status === 200 && (answered.body = answered.body.slice(0, -1))),
    },
    "list-read",
  ),
  "calls JSON text": plant(
    heading(
      ({ path }) => path === "personen-info",
      (headers) => void (headers["content-type"] = "text/plain"),
    ),
    "content-type",
  ),
  "writes Latin-1": plant(
    heading(
      ({ path }) => path === "person-info",
      (headers) => void (headers["content-type"] = "application/json; charset=latin1"),
    ),
    "content-type",
  ),
  "refuses HEAD": plant(
    answering(({ method, path }) => method === "HEAD" && path === "personen-info", { status: 405 }),
    "head",
  ),
  "has no ETag": plantAlone(
    heading(
      ({ path }) => path === "personen-info",
      (headers) => void delete headers["etag"],
    ),
    "etag",
  ),
  "has a new ETag for each answer": plantAlone(
    heading(
      ({ path }) => path === "personen-info",
      (headers) => void (headers["etag"] = `"${randomUUID()}"`),
    ),
    ...(["etag", "head", "not-modified"] as const),
  ),
  "ignores If-None-Match": plant(
    { before: ({ path, headers }) => void (path === "personen-info" && delete headers["if-none-match"]) },
    "not-modified",
  ),
  "answers 304 to any ETag": plant(
    answering(({ path, headers }) => path === "personen-info" && headers["if-none-match"] !== undefined, {
      status: 304,
      body: "",
    }),
    "not-modified",
  ),
  "leaves out a role": plant(
    recording(other, ({ personenkontexte: [one] }) => void delete one!.rolle),
    "record-fields",
  ),
  "counts contexts": plant(
    recording(first, ({ personenkontexte: [one] }) => void (one!.id = 4711)),
    "record-fields",
  ),
  "leaves out a first name": plant(
    recording(other, ({ person }) => void delete person!.name["vorname"]),
    "record-fields",
  ),
  "gives one group in place of a list": plant(
    recording(other, ({ personenkontexte: [one] }) => void (one!.gruppen = { gruppe: {} } as never)),
    ...(["record-fields", "filter-group"] as const),
  ),
  "has codes of its own": plant(
    recording(first, ({ personenkontexte: [one] }) => void (one!.rolle = "Hausmeister")),
    "record-codes",
  ),
  "uses codes of a later version": plant(
    recording(other, ({ personenkontexte: [one] }) => void (one!.rolle = "NLehr")),
    "record-codes",
  ),
  "lists somebody twice": plant(
    listing(nthRead(1), (list) => [...list, list[0]!]),
    ...(["ids-unique", "stable"] as const),
  ),
  "gives two contexts one id": plant(
    recording(other, ({ personenkontexte }) => void personenkontexte.push({ ...personenkontexte[0]!, gruppen: [] })),
    "ids-unique",
  ),
  "gives a group another organisation": plant(
    recording(
      first,
      ({ personenkontexte: [one] }) => void one!.gruppen?.forEach(({ gruppe }) => (gruppe["orgid"] = one!.id)),
    ),
    "references",
  ),
  "calls a group differently for one person": plant(
    recording(
      other,
      ({ personenkontexte: [one] }) => void one!.gruppen?.forEach(({ gruppe }) => (gruppe["bezeichnung"] = "5 a")),
    ),
    "references",
  ),
  "calls a school differently for one person": plant(
    recording(other, ({ personenkontexte: [one] }) => void (one!.organisation["name"] = "Schule")),
    "references",
  ),
  "changes a record without a new ETag": plant(
    listing(nthRead(2), ([one]) => void (one!.personenkontexte[0]!.rolle = "EXTERN")),
    "stable",
  ),
  "gives everybody another pid": plant(
    listing(nthRead(2), (list) => void list.forEach((one) => (one.pid = randomUUID()))),
    "stable",
  ),
  "gives all parts always": plant(
    asking((query) => void (query.get("vollstaendig") !== "nothing" && query.delete("vollstaendig"))),
    "parts",
  ),
  "ignores an unknown part": plant(
    asking((query) => void (query.get("vollstaendig") === "nothing" && query.delete("vollstaendig"))),
    "parts-unknown",
  ),
  "ignores the pid": plantAlone(
    asking((query) => query.delete("pid")),
    ...(["filter-pid", "filter-none", "filter-both", "filter-twice", "page-filter", "person-same"] as const),
  ),
  "ignores a context's id": plant(
    asking(
      (query) =>
        void (
          !query.has("pid") &&
          query.getAll("personenkontext.id").length === 1 &&
          query.delete("personenkontext.id")
        ),
    ),
    ...(["filter-context", "filter-none"] as const),
  ),
  "leaves somebody out of a group": plant(
    listing(
      ({ query }) => query.has("gruppe.id"),
      (list) => list.slice(1),
    ),
    "filter-group",
  ),
  "shortens the records of an organisation": plant(
    asking((query) => void (query.has("organisation.id") && query.set("vollstaendig", "personen"))),
    "filter-organisation",
  ),
  "answers a filter without a match with 404": plant(
    {
      after: (answered, { query }) =>
        void (query.size === 1 && answered.body === "[]" && Object.assign(answered, error(404, "01"))),
    },
    "filter-none",
  ),
  "needs one of two filters": plant(
    asking((query) => void (query.has("pid") && query.delete("personenkontext.id"))),
    "filter-both",
  ),
  "takes a filter twice": plant(
    asking((query) => {
      for (const [key, value] of [...query]) if (key.endsWith(".id")) query.set(key, value);
    }),
    "filter-twice",
  ),
  "has subcode 00 for a filter given twice": plant(
    failing((body, { query }) => void (query.has("pid") && body["subcode"] === "17" && (body["subcode"] = "00"))),
    "filter-twice",
  ),
  "has larger pages than the limit": plant(
    asking((query) => void (!query.has("offset") && query.get("limit") === "2" && query.set("limit", "3"))),
    "page-size",
  ),
  "ends a page early": plant(
    asking((query) => void (query.has("offset") && query.get("limit") === "2" && query.set("limit", "1"))),
    "page-size",
  ),
  "repeats somebody on the next page": plant(
    listing(
      ({ query }) => query.has("offset") && query.get("limit") === "2",
      ([one, ...others]) => [one!, one!, ...others].slice(0, 2),
    ),
    "page-walk",
  ),
  "leaves somebody out of pages": plant(
    listing(isPage, (list) => list.filter(({ pid }) => pid !== other)),
    ...(["page-walk", "page-size"] as const),
  ),
  "shows somebody on pages alone": plant(
    listing(
      ({ query }) => query.get("limit") === "2" && query.size === 1,
      ([one, two]) => [{ ...one!, pid: randomUUID() }, two!],
    ),
    "page-walk",
  ),
  "shortens the records of pages": plant(
    asking((query) => void (query.get("limit") === "2" && !query.has("pid") && query.set("vollstaendig", "personen"))),
    "page-walk",
  ),
  "ignores the offset": plant(
    asking(
      (query) => void (query.getAll("offset").length === 1 && query.get("limit") !== "1" && query.delete("offset")),
    ),
    ...(["page-walk", "page-order"] as const),
  ),
  "sorts pages by their size": plant(
    listing(
      ({ query }) => query.get("limit") === "3",
      (list) => list.toReversed(),
    ),
    "page-order",
  ),
  "begins anew after an unknown offset": plant(
    asking((query) => void (query.get("limit") === "1" && query.delete("offset"))),
    "page-offset",
  ),
  "takes a limit of 0": plant(
    asking((query) => void (query.get("limit") === "0" && query.delete("limit"))),
    "page-limit",
  ),
  "takes a limit twice": plant(
    asking((query) => void (query.has("limit") && query.set("limit", query.get("limit")!))),
    "page-limit",
  ),
  "filters no pages": plant(
    asking((query) => void (query.has("limit") && query.delete("pid"))),
    "page-filter",
  ),
  "has numbers for codes of errors": plant(
    failing((body) => void (body["code"] = Number(body["code"]))),
    "error-body",
  ),
  "has no title for an error": plant(
    failing((body) => void delete body["titel"]),
    "error-body",
  ),
  "answers an unknown address with a page": plant(
    answering(({ path }) => path.startsWith("check-"), {
      status: 404,
      headers: { "content-type": "text/html" },
      body: "<h1>Not found</h1>",
    }),
    ...(["error-body", "unknown-path", "content-type"] as const),
  ),
  "names a person in an error": plant(
    failing((body, { query }) => void (query.has("limit") && (body["beschreibung"] = `${name} hat das nicht.`))),
    "error-private",
  ),
  "repeats the token in an error": plant(
    failing((body, asked) => void (body["code"] === "404" && (body["beschreibung"] = `Token ${bearer(asked)}`))),
    "error-private",
  ),
  "has 400 for unknown addresses": plant(
    answering(({ path }) => path.startsWith("check-"), error(400, "00")),
    "unknown-path",
  ),
  "answers POST with 404": plant(
    answering(({ method, path }) => method === "POST" && path === "personen-info", error(404, "00")),
    "wrong-method",
  ),
  "does not say which methods there are": plant(
    heading(
      () => true,
      (headers) => void delete headers["allow"],
    ),
    "wrong-method",
  ),
  "hides what it does not offer": plant(
    answering(({ path }) => path === "gruppen-info", error(404, "00")),
    "not-offered",
  ),
  "gives the person who signed in no pid": plantAlone(
    {
      after: (answered, { path }) =>
        void (path === "person-info" && (answered.body = answered.body.replace('"pid"', '"id"'))),
    },
    "person-record",
  ),
  "gives the person who signed in another role": plant(
    {
      after: (answered, { path }) =>
        void (path === "person-info" && (answered.body = answered.body.replace(/"rolle":"\w+"/, '"rolle":"EXTERN"'))),
    },
    "person-same",
  ),
});
