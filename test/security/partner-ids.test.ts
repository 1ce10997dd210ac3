import { beforeAll, expect, test } from "vitest";
import { rights } from "../../src/admin/rights.ts";
import { listOperations, loadDocument, resolve } from "../../src/platform/http/index.ts";
import { makeStaff, type AdminClient } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";

// A partner learns nothing of an id that the app was not given: it is answered as one that does not exist.
const document = await loadDocument("admin", "schultor");
const service = await startService();
const make = makeMakers(service.db);
const missing = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10";

type Given = { in: string; name: string; required?: boolean; example?: unknown; schema?: Schema };
type Schema = { format?: string; enum?: string[] };

/** Every address that a partner can read with an id in it, for each value of its other parameters. */
const places = listOperations(document)
  .filter(({ method, operation }) => {
    const roles: readonly string[] = rights[operation.operationId as keyof typeof rights];
    return method.toUpperCase() === "GET" && roles.includes("PARTNER");
  })
  .flatMap(({ path, operation }) => {
    const parameters = (operation.parameters ?? []).map((one) => resolve(document, one) as Given);
    const isId = ({ name, schema }: Given) =>
      name !== "schoolId" && resolve<Schema>(document, (schema ?? {}) as Schema).format === "uuid";
    const ofChoice = parameters.find(({ name }) => name === "resource");
    const choices = ofChoice ? (resolve<Schema>(document, ofChoice.schema!).enum ?? []) : [""];
    return parameters.filter(isId).flatMap((parameter) =>
      choices.map((choice) => ({
        id: operation.operationId,
        name: `${operation.operationId} ${parameter.name} ${choice}`.trim(),
        path,
        parameter,
        query: [
          ...(choice === "" ? [] : [["resource", choice]]),
          ...parameters
            .filter((one) => one.in === "query" && one.required === true && one !== ofChoice && one !== parameter)
            .map(({ name, example }) => [name, String(example)]),
        ] as [string, string][],
      })),
    );
  });

let partner: AdminClient;
let app: string;
let granted: string;
let hidden: string[];

beforeAll(async () => {
  const [school, foreign] = [await make.school(), await make.school()];
  const { clientId } = await make.app();
  const shown = await make.group({ school });
  await make.grant({ app: clientId, school, groups: [shown], signOn: { kind: "GROUPS", groups: [shown] } });
  hidden = [
    ...[await make.person({ school }), await make.group({ school })],
    ...[foreign, await make.person({ school: foreign }), await make.group({ school: foreign })],
  ];
  [app, granted] = [clientId, school];
  partner = (await makeStaff(service, "PARTNER", { clientIds: [clientId] })).call;
});

test("the walk has the operations that show what an app gets", () => {
  expect(places.map(({ name }) => name)).toEqual(expect.arrayContaining(["getAppView id person", "listAudit person"]));
});

test("an id that the app was not given is answered as one that does not exist", async () => {
  const ask = async ({ path, parameter, query }: (typeof places)[number], id: string) => {
    const known: Record<string, string> = { schoolId: granted, clientId: app };
    if (parameter.in === "path") known[parameter.name] = id;
    const search = new URLSearchParams(query);
    if (parameter.in === "query") search.set(parameter.name, id);
    const address = path.replace(/\{(\w+)\}/g, (_all, name: string) => known[name] ?? missing);
    const { status, body, headers } = await partner("GET", `${address.replace("/admin/v1", "")}?${search.toString()}`);
    const text = JSON.stringify(body)
      .replaceAll(id, "ID")
      .replaceAll(/"requestId":"[^"]*"/g, "");
    return [status, text.replaceAll(/\\"requestId\\":\\"[^"\\]*\\"/g, ""), headers.get("content-type")];
  };
  for (const place of places) {
    const unknown = await ask(place, missing);
    const answers = await Promise.all(hidden.map((id) => ask(place, id)));
    expect(answers, place.name).toEqual(hidden.map(() => unknown));
  }
});
