import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { makeStaff } from "../support/admin.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeMakers } from "../support/make.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { startService, type TestService } from "../support/service.ts";
import { makeOperator, runHere } from "./program.ts";

/** A folder for the configuration of one user of the command line. */
export async function makeConfigFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "schultor-remote-"));
  atFileEnd(() => rm(folder, { recursive: true }));
  return folder;
}

const normal = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");

/** A service, its database, and two command lines: one beside the database, one that is logged in to the service. */
export async function makeRemoteWorld(wishes: Parameters<typeof startService>[0] = {}) {
  hashAllQuickly();
  const service: TestService = await startService(wishes);
  const { app } = await makeStaff(service, "OPERATOR");
  const folder = await makeConfigFolder();
  const secret = { SCHULTOR_CLIENT_SECRET: app.clientSecret! };
  const beside = { DATABASE_URL: service.db.url, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" };
  const afar = { XDG_CONFIG_HOME: folder, SCHULTOR_REMOTE: "it" };
  const login = await runHere({ ...afar, ...secret })([
    ...["login", service.url, "--client-id", app.clientId, "--name", "it"],
  ]);
  expect(login).toMatchObject({ code: 0, err: "" });
  const [here, there] = [runHere(beside, undefined, service.clock), runHere(afar)];
  return {
    service,
    app,
    folder,
    make: makeMakers(service.db),
    here,
    there,
    local: makeOperator(here),
    remote: makeOperator(there),
    /** Reads as data, and expects the same of both; the table of these data is printed by either. */
    async expectSameReading(...args: string[]) {
      const [wanted, found] = [await here([...args, "--json"]), await there([...args, "--json"])];
      expect(found, args.join(" ")).toEqual(wanted);
      expect((await there(args)).code, args.join(" ")).toBe(wanted.code);
    },
    /** Does the same to two records that are alike, and expects the same but for ids and times. */
    async expectSameDoing(onOne: readonly string[], onOther: readonly string[] = onOne) {
      const [wanted, found] = [await here([...onOne, "--yes"]), await there([...onOther, "--yes"])];
      expect(found.err.replace(/^At http.*:\n/, ""), onOther.join(" ")).toBe(wanted.err);
      expect([found.code, normal(found.out)], onOther.join(" ")).toEqual([wanted.code, normal(wanted.out)]);
      return found.out.trim();
    },
  };
}
