import { randomUUID } from "node:crypto";
import type { ExpectationId } from "./expectations.ts";
import { canonical, hash } from "./fingerprints.ts";
import { findPartFault, listAt, textAt } from "./record.ts";
import { expectList, findListFault, readList, sendProbes, type World } from "./world.ts";

type Filter = { name: string; id: ExpectationId; idsOf(record: unknown): readonly string[] };
type Tried = Filter & { value: string };

const contextsOf = (record: unknown) => listAt(record, "personenkontexte");
const groupsOf = (record: unknown) => contextsOf(record).flatMap((context) => listAt(context, "gruppen"));
const filter = (name: string, id: ExpectationId, idsOf: Filter["idsOf"]): Filter => ({ name, id, idsOf });

const ofOrganisation = filter("organisation.id", "filter-organisation", (record) =>
  contextsOf(record).map((context) => textAt(context, "organisation", "id")),
);
const filters = [
  filter("pid", "filter-pid", (record) => [textAt(record, "pid")]),
  filter("personenkontext.id", "filter-context", (record) => contextsOf(record).map((one) => textAt(one, "id"))),
  filter("gruppe.id", "filter-group", (record) => groupsOf(record).map((entry) => textAt(entry, "gruppe", "id"))),
];

/** Compares each filter, with ids of the samples, with the whole list. */
export async function checkFilters(world: World): Promise<void> {
  const { version, send, samples } = world;
  const isOffered = version >= "1.8" || (await send({ query: { "organisation.id": randomUUID() } })).status !== 400;
  if (!isOffered) world.note("not offered", "It is needed from version 1.8.", "filter-organisation");
  const offered = isOffered ? [...filters, ofOrganisation] : filters;
  const tried = offered.flatMap((one) => {
    const ids = samples.flatMap((record) => one.idsOf(record).slice(0, 1)).filter((id) => id !== "");
    if (ids.length === 0) world.note("not checked", "The samples have no such id.", one.id);
    return [...new Set(ids)].map((value): Tried => ({ ...one, value }));
  });
  const wanted = await readWanted(world, tried);
  for (const [place, one] of tried.entries())
    await world.attempt(async () => {
      const sent = { query: { [one.name]: one.value } };
      const { contents } = await readList(world, one.id, sent);
      // The whole list may have changed since it was read.
      const isSame = findListFault(wanted[place]!, contents) === null;
      await expectList(world, one.id, sent, isSame ? wanted[place]! : (await readWanted(world, [one]))[0]!);
    });
  for (const { name } of offered) {
    const id = randomUUID();
    await world.attempt(() => expectList(world, "filter-none", { query: { [name]: id } }, []));
    await sendProbes(world, [["filter-twice", { query: { [name]: [id, id] } }, [400], "17"]]);
  }
  const both = { pid: textAt(samples[0], "pid"), "personenkontext.id": textAt(contextsOf(samples[1])[0], "id") };
  if (Object.values(both).includes("")) world.note("not checked", "There are no two records with ids.", "filter-both");
  else await expectList(world, "filter-both", { query: both }, []);
}

/** For each filter the contents of the records that it should give, from one read of the whole list. */
async function readWanted(world: World, tried: readonly Tried[]): Promise<number[][]> {
  const wanted: number[][] = tried.map(() => []);
  await readList(world, "list-read", {}, (record) => {
    for (const [place, { idsOf, value }] of tried.entries())
      if (idsOf(record).includes(value)) wanted[place]!.push(hash(canonical(record)));
  });
  return wanted;
}

const allParts = "personen,personenkontexte,organisationen,gruppen,beziehungen";
const someParts = ["personen", "personenkontexte,gruppen", "organisationen", "personen,organisationen", allParts];

/** Compares the parts of a sample with the whole record. */
export async function checkParts(world: World): Promise<void> {
  const pid = textAt(world.samples[0], "pid");
  const read = async (query: Record<string, string>): Promise<unknown> => {
    let found: unknown;
    await readList(world, "parts", { query }, (record) => (found = record));
    return found;
  };
  const whole = await read({ pid });
  for (const vollstaendig of someParts.flatMap((parts) => [parts, parts.toUpperCase()])) {
    const part = await read({ pid, vollstaendig });
    const named = vollstaendig.toLowerCase();
    const isOther = named === allParts && canonical(part) !== canonical(whole);
    const fault = isOther ? "another record" : findPartFault(whole, part, named.split(","));
    world.judge("parts", { query: { pid, vollstaendig } }, fault);
  }
  await sendProbes(world, [["parts-unknown", { query: { vollstaendig: "nothing" } }, [400]]]);
}
