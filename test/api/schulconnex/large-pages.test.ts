// @module-tag slow
import { expect, test } from "vitest";
import { makeReader, schulconnex } from "../../support/api.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { issueAppToken } from "../../support/token.ts";

// So many people that a page reads them from an index instead of sorting those of the app's schools.

const service = await startService();
const make = makeMakers(service.db);
const people = 5200;
const limit = 1000;

test.each(["SHARED", "APP"] as const)(
  "pages of more people than one sort are the whole list, each person once (%s)",
  { timeout: 120_000 },
  async (subjectType) => {
    const app = await make.app({ subjectType });
    for (const count of [people - 30, 30]) {
      const school = await make.school();
      const groups = [await make.group({ school })];
      await make.people({ school, count, groups });
      await make.grant({ app: app.clientId, school, groups });
    }
    const read = makeReader(service, await issueAppToken(service, app, ["people:read"]));
    const list = async (query: string) => {
      const { status, body } = await read(`${schulconnex}/personen-info${query}`);
      expect([query, status]).toEqual([query, 200]);
      return (body as { pid: string }[]).map(({ pid }) => pid);
    };
    const whole = await list("?vollstaendig=personenkontexte");
    const walked: string[] = [];
    for (let page = ["first"]; page.length > 0; walked.push(...page))
      page = await list(`?limit=${limit}${walked.length === 0 ? "" : `&offset=${walked.at(-1)!}`}`);
    expect(walked).toEqual(whole.toSorted());
    expect(walked).toHaveLength(people);
    expect(await list(`?offset=${walked[4000]!}`)).toEqual(walked.slice(4001));
  },
);
