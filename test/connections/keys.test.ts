// @module-tag slow
import { expect, test } from "vitest";
import { runHere } from "../cli/program.ts";
import { makeStaff } from "../support/admin.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { csvOf, pupilsOf, startSource, text } from "../support/roster-source.ts";
import { startService } from "../support/service.ts";

test("secrets and the host key of SFTP outlive a rotation of the keys, and only a lost key ends them", async () => {
  const db = await testDatabase();
  const [oldKey, newKey, other] = ["old key", "new key", "other key"].map((name) =>
    Buffer.alloc(32, name).toString("base64"),
  );
  const source = await startSource({ "/r": text(csvOf(pupilsOf(3))) });
  const school = await makeMakers(db).school();
  const withKey = async (key: string) => {
    const env = { ENCRYPTION_KEYS: key, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", SFTP_PORT: "0" };
    const service = await startService({ db, env });
    const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
    const { fingerprint } = await service.openRosterDrop().then(async (drop) => {
      await drop!.stop();
      return drop!;
    });
    return { service, call, fingerprint };
  };
  const before = await withKey(oldKey!);
  const body = { name: "F", kind: "HTTPS_FILE", schoolIds: [school], address: `${source.address}/r`, secret: "hush" };
  const { id } = (await before.call("POST", "/roster-connections", { body })).body as { id: string };
  await before.service.close();

  const cli = (keys: string) => runHere({ DATABASE_URL: db.url, ENCRYPTION_KEYS: keys });
  expect(await cli(`${newKey},${oldKey}`)(["re-encrypt"])).toMatchObject({ code: 0 });
  const rotated = await withKey(newKey!);
  expect(rotated.fingerprint).toBe(before.fingerprint);
  const tested = await rotated.call("POST", `/roster-connections/${id}/tests`);
  expect(tested.body).toMatchObject({ outcome: "TESTED" });
  expect(source.asked.at(-1)).toMatchObject({ authorization: "Bearer hush" });
  await rotated.service.close();

  expect(await cli(other!)(["replace-lost-keys", "--yes"])).toMatchObject({ code: 0 });
  const lost = await withKey(other!);
  expect(lost.fingerprint).not.toBe(before.fingerprint);
  expect((await lost.call("GET", `/roster-connections/${id}`)).body).toMatchObject({ hasSecret: false, state: "OFF" });
  await lost.call("POST", `/roster-connections/${id}/tests`);
  expect(source.asked.at(-1)).toMatchObject({ authorization: undefined });
});
