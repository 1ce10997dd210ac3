import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { requestScopes } from "../../src/access/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { writeRoster } from "../imports/rosters.ts";
import { getUserTokens, giveLogin } from "../support/token.ts";
import { makeRemoteWorld } from "./remote-world.ts";

/*
 * A transcript is a text file: what is typed beside the database, and what is printed.
 * `name=$ …` types a command and calls the first id that it prints `$name`; `% name` runs a job. A code that is not 0
 * stands behind the output. `npx vitest run test/cli/transcripts.test.ts -u` writes what is printed now.
 */
const { service, here, make } = await makeRemoteWorld({
  env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" },
});

const scopes = ["openid", "profile"] as const;
const name = { firstFull: "Bo", firstCall: "Bo", last: "Muster" };
const makePerson = async (schoolName: string) => {
  const school = await make.school({ name: schoolName });
  return { school, person: await make.person({ school, name }) };
};
const roster = (file: string, rows: string[]) =>
  writeRoster(["id;role;first_name;call_name;last_name;classes;courses;groups;status", ...rows, ""].join("\n"), file);

/** What a transcript finds there, by the names that it uses. Nothing else has these names. */
const worlds: Record<string, () => Promise<Record<string, string>>> = {
  schools: async () => ({}),
  output: async () => ({}),
  people: async () => {
    const [school, other] = [
      await make.school({ name: "Alte Schule", officialId: "DE-NI-3" }),
      await make.school({ name: "Neue Schule" }),
    ];
    return { school, other, group: await make.group({ school, name: "3c" }) };
  },
  groups: () => makePerson("Schule"),
  apps: async () => {
    const [school, other] = [await make.school(), await make.school()];
    const [first, second] = [await make.group({ school, name: "a" }), await make.group({ school, name: "b" })];
    return {
      school,
      first,
      second,
      foreign: await make.group({ school: other }),
    };
  },
  webhooks: async () => ({ app: (await make.app()).clientId }),
  "id-moves": async () => {
    const [{ clientId: app }, school] = [await make.app(), await make.school()];
    await make.grant({ app, school, signOn: "NOBODY" });
    await make.signIn({ app, person: await make.person({ school }) });
    return { app };
  },
  staff: async () => {
    const { school, person } = await makePerson("Schule");
    const group = await make.group({ school, name: "8b" });
    const makeTeacher = async (last: string) => {
      const teacher = await make.person({
        school,
        role: "TEACHER",
        name: { ...name, last },
      });
      await make.membership({ group, person: teacher, role: "TEACHER" });
      await giveLogin(service.db, teacher);
      return teacher;
    };
    const { clientId: app } = await make.app();
    return {
      school,
      person,
      app,
      alt: await makeTeacher("Alt"),
      neu: await makeTeacher("Neu"),
    };
  },
  handovers: async () => {
    const { school: from, person: pupil } = await makePerson("Abgebende Schule");
    const to = await make.school({ name: "Aufnehmende Schule" });
    return {
      from,
      to,
      pupil,
      group: await make.group({ school: to, name: "7b" }),
    };
  },
  mergers: async () => {
    const { school: from, person: pupil } = await makePerson("Waldschule");
    const into = await make.school({ name: "Seeschule" });
    for (const school of [from, into]) await make.group({ school, name: "5a" });
    return { from, into, pupil };
  },
  retention: async () => {
    const { school, person } = await makePerson("Schule");
    const leftAt = new Date("2025-01-01T00:00:00Z");
    await service.db.prisma.person.updateMany({
      where: { id: person },
      data: { leftAt },
    });
    return { school, person };
  },
  "data-requests": () => makePerson("Schule"),
  "sign-ons": async () => {
    const school = await make.school({ officialId: "DE-NI-9" });
    const app = await make.app({ name: "Lernapp", scopes: [...scopes] });
    await make.grant({ app: app.clientId, school });
    const person = await make.person({ school });
    await getUserTokens(service, app, await giveLogin(service.db, person), {
      scopes: [...scopes],
    });
    const { clientId: tried } = await make.app({
      name: "Versuch",
      scopes: ["openid"],
    });
    const asked = new URLSearchParams({
      client_id: tried,
      response_type: "code",
      redirect_uri: "https://a.example",
    });
    await fetch(`${service.url}/oauth2/auth?${asked.toString()}`, {
      redirect: "manual",
    });
    const request = async (scope: "groups:read" | "users:read") => {
      service.clock.forwardSeconds(1);
      const wanted = {
        clientId: (await make.app({ scopes: ["openid"] })).clientId,
        scopes: [scope],
        reason: "Listen",
      };
      const origin = { at: service.clock(), actorId: "test" };
      return (await withPrismaTransaction(service.db, (tx) => requestScopes(tx, wanted, origin))).id;
    };
    const [first, second] = [await request("groups:read"), await request("users:read")];
    return { school, person, app: app.clientId, tried, first, second };
  },
  names: async () => {
    const first = await make.school({ officialId: "DE-NI-41", name: "Alte Schule" });
    const second = await make.school({ officialId: "DE-NI-42", name: "Neue Schule" });
    const class9x = await make.group({ school: first, name: "9x" });
    const chess = await make.group({ school: second, name: "Schach" });
    return { first, second, class9x, chess, choir: await make.group({ school: first, name: "Chor" }) };
  },
  "app-keys": async () => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const jwk = (key: KeyObject) => JSON.stringify({ keys: [{ ...key.export({ format: "jwk" }), kid: "2026" }] });
    return {
      keys: await writeRoster(jwk(publicKey), "keys.json"),
      private: await writeRoster(jwk(privateKey), "private.json"),
      pem: await writeRoster(publicKey.export({ format: "pem", type: "spki" }), "keys.pem"),
    };
  },
  imports: async () => ({
    school: await make.school({ name: "Schule" }),
    broken: await roster("broken.csv", ["1;student;Bo;;;4d;;;"]),
    full: await roster("full.csv", ["1;student;Bo;;Muster 1;4d;;;", "2;student;Bo;;Muster 2;4d;;;"]),
  }),
};

const wordsOf = (command: string): string[] =>
  [...command.matchAll(/(["'])(.*?)\1|\S+/g)].map(([word, , quoted]) => quoted ?? word);

/** Types the commands of a transcript again; returns it with what is printed now. */
async function typeAgain(transcript: string, values: Record<string, string>): Promise<string> {
  const named = (text: string): string =>
    Object.entries(values).reduce((rest, [name, value]) => rest.replaceAll(value, `$${name}`), text);
  const hidden = (text: string): string =>
    named(text.replaceAll(service.url, "$url"))
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, "<time>")
      .replaceAll(/whsec_[\w+/=]+|(?<![\w-])[\w-]{43}(?![\w-])/g, "<secret>")
      .replaceAll(/^(password: )\S+$/gim, "$1<password>")
      .replaceAll(/^(.+,.+,[a-z]+\.[a-z]+,)\S+$/gm, "$1<password>")
      .replaceAll(/ +$/gm, "");
  const lines: string[] = [];
  for (const line of transcript.split("\n").filter((one) => /^((\w+=)?\$|%|#)/.test(one))) {
    lines.push(line);
    const [, job] = /^% (\S+)$/.exec(line) ?? [];
    if (job !== undefined) await service.runJob(job);
    const [, name = "", command] = /^(?:(\w+)=)?\$ (.*)$/.exec(line) ?? [];
    if (command === undefined) continue;
    const args = wordsOf(command).map((word) => word.replaceAll(/\$(\w+)/g, (_, of: string) => values[of] ?? of));
    // What is listed by its time has an order.
    service.clock.forwardSeconds(1);
    const { code, out, err } = await here(args);
    if (name !== "") values[name] = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(out)![0];
    const shown = err.replace(/^At http.*:\n/, "").replace(code === 2 ? /\n\n[^]*/ : "", "") + out;
    if (shown !== "")
      lines.push(
        ...hidden(shown.trimEnd())
          .split("\n")
          .map((one) => `  ${one}`.trimEnd()),
      );
    if (code !== 0) lines.push(`  [${code}]`);
  }
  return `${lines.join("\n")}\n`;
}

test.each(Object.keys(worlds))("the commands about %s print what their transcript says", async (name) => {
  const file = join(import.meta.dirname, `transcripts/${name}.txt`);
  const printed = await typeAgain(readFileSync(file, "utf8"), await worlds[name]!());
  await expect(printed).toMatchFileSnapshot(file);
});
