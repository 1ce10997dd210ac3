import { readJsonRecords } from "../../imports/index.ts";
import { SourceError } from "./failure.ts";
import { createFile } from "./file.ts";
import { toSourceError } from "./requests.ts";
import { checkClient, findNamedSchool, type RosterSource, type SourceSchool, type SourceTools } from "./source.ts";

type Organisation = { kennung?: unknown; id?: unknown };
type PersonInfo = {
  pid?: unknown;
  person?: { stammorganisation?: Organisation | null } | null;
  personenkontexte?: ({ organisation?: Organisation | null } | null)[] | null;
};

const pageSize = 1000;
/** Ends a walk whose source repeats its pages. */
const mostPages = 2000;

/**
 * personen-info of another provider, in pages if it pages as 1.8 does, otherwise whole. Only what it says of the
 * schools of the connection is kept. Source: Schulconnex 1.0 to 1.8, personen-info.
 */
export const schulconnex: RosterSource = {
  fields: { address: "required", tokenAddress: "optional", clientId: "optional", sourceSchool: "optional" },
  secret: "required",
  checkSettings: checkClient,
  async read({ settings, secret, schools }, tools) {
    const { address = "", tokenAddress, clientId = "", sourceSchool } = settings;
    const client = { id: clientId, secret: secret ?? "" };
    const getToken = async (scope?: string) =>
      tokenAddress === undefined
        ? client.secret
        : tools.requests.token(new URL(tokenAddress), { ...client, ...(scope !== undefined && { scope }) });
    const file = createFile(tools);
    const find: FindSchool = (organisation) => {
      const names = [organisation?.kennung, organisation?.id].filter((name) => typeof name === "string");
      return findNamedSchool(names, schools, sourceSchool);
    };
    let [people, written] = [0, 0];
    await file.write("[");
    for await (const records of walk(tools, new URL(address), getToken)) {
      const texts = records.flatMap((one) => keepOurs(one, find) ?? []).map((one) => JSON.stringify(one));
      people += records.length;
      if (texts.length > 0) await file.write(`${written > 0 ? ",\n" : "\n"}${texts.join(",\n")}`);
      written += texts.length;
    }
    await file.end("\n]\n");
    if (written === 0)
      throw new SourceError(people === 0 ? "EMPTY" : "OTHER_SCHOOL", `${people} people, none of them here`);
    return { path: file.path, fileName: "personen-info.json", format: "SCHULCONNEX" };
  },
};

type FindSchool = (organisation: Organisation | null | undefined) => SourceSchool | undefined;

/** The record with its contexts at our schools, under our ids; null for somebody who has none. */
function keepOurs(record: PersonInfo, find: FindSchool): PersonInfo | null {
  const contexts = (record.personenkontexte ?? []).flatMap((context) => {
    const school = find(context?.organisation);
    const organisation = { ...context?.organisation, kennung: school?.id };
    return school === undefined ? [] : [{ ...context, organisation }];
  });
  if (contexts.length === 0) return null;
  const home = find(record.person?.stammorganisation);
  const stammorganisation = home === undefined ? null : { ...record.person?.stammorganisation, kennung: home.id };
  return { ...record, person: { ...record.person, stammorganisation }, personenkontexte: contexts };
}

const refuse = (code: string) => new SourceError(code === "json_cut" ? "HALF" : "ANSWERED_BADLY", code);

/** Providers before 1.8 ignore `limit`, or refuse it with 400: their list is whole. */
async function* walk(
  { requests, signal }: SourceTools,
  address: URL,
  getToken: (scope?: string) => Promise<string>,
): AsyncGenerator<PersonInfo[]> {
  let token = await getToken();
  let hasAsked = false;
  const open = async (query: Record<string, string>) => {
    const url = new URL(address);
    url.searchParams.set("vollstaendig", "personen,personenkontexte,organisationen,gruppen");
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const ask = async () => {
      const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
      return (await requests.open(url, { headers })).body;
    };
    return ask().catch(async (error: unknown) => {
      // Providers name the scope of this list as they like; the refusal of a token without it says the name.
      if (hasAsked || !(error instanceof SourceError) || error.scope === null) throw error;
      hasAsked = true;
      token = await getToken(error.scope);
      return ask();
    });
  };
  let isPaged = true;
  let last: string | undefined;
  let first: unknown;
  for (let page = 0; page < mostPages; page++) {
    const query = { ...(isPaged && { limit: String(pageSize) }), ...(last !== undefined && { offset: last }) };
    const body = await open(query).catch((error: unknown) => {
      if (page > 0 || !(error instanceof SourceError) || error.status !== 400) throw error;
      isPaged = false;
      return open({});
    });
    let size = 0;
    try {
      for await (const records of readJsonRecords(body as AsyncIterable<Buffer>, refuse)) {
        if (!records.every((one) => typeof one === "object" && one !== null)) throw refuse("not_an_array");
        const people = records as PersonInfo[];
        if (size === 0) {
          // The same list again: the provider ignores `offset`.
          if (page > 0 && people[0]!.pid === first) return void body.destroy();
          if (page === 0) first = people[0]!.pid;
        }
        size += people.length;
        last = String(people.at(-1)!.pid);
        yield people;
      }
    } catch (error) {
      throw toSourceError(error, signal);
    } finally {
      body.destroy();
    }
    if (!isPaged || size !== pageSize) return;
  }
  throw new SourceError("ANSWERED_BADLY", "the pages have no end");
}
