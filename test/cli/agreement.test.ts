import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeConfigFolder, makeRemoteWorld } from "./remote-world.ts";

const { remote, there, make } = await makeRemoteWorld();

const isNeeded = { isRequired: false, purpose: { de: "Anzeige" } };
const draft = {
  version: "2026",
  text: "§ 1 Gegenstand",
  deletionPeriods: { de: "30 Tage nach dem Ende der Nutzung" },
  subprocessors: [],
  attributes: ["PERSON_NAME", "SCHOOL_ADDRESS"].map((attribute) => ({ attribute, ...isNeeded })),
  scopes: ["openid", "people:read"].map((scope) => ({ scope, ...isNeeded })),
};

test("a school agrees to the version that was read, and to no other", async () => {
  const school = await make.school();
  const { clientId: app } = await make.app({
    scopes: ["openid", "people:read"],
    attributes: ["PERSON_NAME", "SCHOOL_ADDRESS"],
  });
  const file = join(await makeConfigFolder(), "draft.json");
  await writeFile(file, JSON.stringify(draft));
  await remote.ask("agreement", "draft", app, "--file", file);
  await remote.ask("agreement", "publish", app);

  const accept = ["agreement", "accept", app, school, "--read-version"];
  expect((await there([...accept, "2025"])).err).toContain("--read-version: the current version is 2026.");
  expect((await there([...accept, "2026", "--withhold", "person_name", "--withhold-nothing"])).err).toContain(
    "Give --withhold or --withhold-nothing, not both.",
  );
  expect((await there([...accept, "2026", "--dry-run"])).out).toContain("No app would see anything else.");
  expect(await remote.ask(...accept, "2026", "--withhold", "person_name")).toEqual({
    clientId: app,
    schoolId: school,
    version: "2026",
  });
  const show = () => remote.ask("agreement", "show", app, school);
  expect(await show()).toMatchObject({
    accepted: { version: "2026" },
    withheldAttributes: [{ attribute: "PERSON_NAME" }],
  });
  expect((await there([...accept, "2026", "--withhold-nothing"])).out).toBe("The school agreed to version 2026.\n");
  expect(await show()).toMatchObject({ withheldAttributes: [] });
});
