import { expect, test } from "vitest";
import { changeDirectory } from "../../../src/access/index.ts";
import { updateSchool, type SchoolId } from "../../../src/directory/index.ts";
import { getReader, idm } from "../../support/api.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

const service = await startService();
const make = makeMakers(service.db);
const app = await make.app();
const read = await getReader(service, app);
const listNames = (body: unknown) => (body as { name: string }[]).map(({ name }) => name);
const rename = (schoolId: SchoolId, name: string) =>
  changeDirectory(service.db, { at: service.clock(), actorId: "test" }, (change) =>
    updateSchool(change, { schoolId, name }),
  );

/** Whole, and page after page of two. */
async function readNames(): Promise<{ whole: string[]; pages: string[] }> {
  const whole = listNames((await read(`${idm}/schools`)).body);
  const pages: string[] = [];
  for (let path: string | undefined = `${idm}/schools?limit=2`; path !== undefined;) {
    const { body, headers } = await read(path);
    pages.push(...listNames(body));
    const next = /<([^>]+)>/.exec(headers.get("link") ?? "")?.[1];
    path = next && new URL(next, service.url).pathname + new URL(next, service.url).search;
  }
  return { whole, pages };
}

test("schools come in the order of their names, which is the new one after a school got another name", async () => {
  const [c, a, b, hidden] = [await make.school(), await make.school(), await make.school(), await make.school()];
  await rename(c, "Cedernschule");
  for (const school of [c, a, b]) await make.grant({ app: app.clientId, school });
  await make.grant({ app: app.clientId, school: hidden, sync: false });
  await rename(a, "Ahornschule");
  await rename(b, "Birkenschule");
  const names = ["Ahornschule", "Birkenschule", "Cedernschule"];
  expect(await readNames()).toEqual({ whole: names, pages: names });
  await rename(a, "Zirbenschule");
  const renamed = ["Birkenschule", "Cedernschule", "Zirbenschule"];
  expect(await readNames()).toEqual({ whole: renamed, pages: renamed });
});
