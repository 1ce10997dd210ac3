import { expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { runHere } from "./program.ts";

const env = { DATABASE_URL: (await testDatabase()).url };
const run = runHere(env);

const create = ["school", "create", "--name", 'Schule "am, Deich"', "--official-id", "DE-NI-1", "--street", "Weg 1"];
const id = (await run([...create, "--zip", "21680", "--city", "Stade", "--state", "NI"])).out.trim();

test("a list has headings, as text and as CSV, and its ids alone with --quiet", async () => {
  const { out } = await run(["school", "list"]);
  expect(out).toMatch(new RegExp(`^ID +OFFICIAL ID +NAME +CITY\n${id} +DE-NI-1 +Schule "am, Deich" +Stade\n$`));
  expect((await run(["school", "list", "--output", "csv"])).out).toBe(
    `id,official id,name,city\n${id},DE-NI-1,"Schule ""am, Deich""",Stade\n`,
  );
  expect((await run(["school", "list", "--quiet"])).out).toBe(`${id}\n`);
  expect(JSON.parse((await run(["school", "list", "-o", "json"])).out)).toMatchObject({
    schools: [{ id }],
    next: null,
  });
});

test("an empty list says so, and prints nothing with --quiet and headings alone as CSV", async () => {
  expect((await run(["webhook", "list"])).out).toBe("No endpoints.\n");
  expect((await run(["webhook", "list", "-q"])).out).toBe("");
  expect((await run(["webhook", "list", "-o=csv"])).out).toBe("id,app,state,reason,types,url\n");
});

test("a record is one row of CSV, with its parts as JSON", async () => {
  const [heads, row] = (await run(["school", "show", id, "--output", "csv"])).out.trim().split("\n");
  expect(heads).toContain("officialId");
  expect(row).toContain(`"{""country"":""DE"",""state"":""NI""}"`);
});

test("CSV has no cell that a spreadsheet takes for a formula", async () => {
  const names = ["--name", "=HYPERLINK(1)", "--official-id", "DE-NI-9", "--street", "@Weg 1", "--city", "+Stadt"];
  const { out: made } = await run(["school", "create", ...names, "--zip", "21680", "--state", "NI"]);
  const id = made.trim();
  const list = (await run(["school", "list", "--search", "HYPERLINK", "-o", "csv"])).out;
  expect(list).toBe(`id,official id,name,city\n${id},DE-NI-9,'=HYPERLINK(1),'+Stadt\n`);
  expect((await run(["school", "show", id, "-o", "csv"])).out).toContain(`,'=HYPERLINK(1),`);
});

test("with --quiet a change says nothing, and a secret is still shown", async () => {
  expect(await run(["school", "update", id, "--city", "Buxtehude", "--quiet"])).toEqual({ code: 0, out: "", err: "" });
  const { out } = await run(["app", "create", "--name", "Lernapp", "--client-id", "lernapp", "--quiet"]);
  expect(out).toMatch(/^lernapp\n[\w-]{43}\n$/);
});

const exists = async () => (await run(["app", "show", "lernapp"])).code === 0;

test("what cannot be undone needs --yes where nobody can be asked", async () => {
  const { code, out, err } = await run(["app", "delete", "lernapp"]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain("This cannot be undone: add --yes");
  expect(await exists()).toBe(true);
});

test("a person at a terminal is asked: everything but yes changes nothing", async () => {
  for (const answer of ["", "n", "nope"]) {
    const { code, err } = await runHere(env, answer)(["app", "delete", "lernapp"]);
    expect(code).toBe(1);
    expect(err).toMatch(/lernapp: This deletes the app .* Continue\? \[y\/N\] \nNothing was changed\.\n/);
  }
  expect(await exists()).toBe(true);
  expect(await runHere(env, "y")(["app", "delete", "lernapp"])).toMatchObject({ code: 0, out: "App deleted.\n" });
  expect(await exists()).toBe(false);
});

const irreversible = [
  ...[
    ["person", "delete", "ada"],
    ["app", "delete", "lernapp"],
    ["webhook", "remove", "lernapp"],
  ],
  ...[
    ["webhook", "disable", "lernapp"],
    ["database", "remove"],
  ],
];

test.each(irreversible)("%s %s is asked about", async (...args) => {
  expect(await run(args)).toMatchObject({ code: 2, err: expect.stringContaining("add --yes") as string });
});
