import { expect, test } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import type { Command } from "../../src/cli/command.ts";

/** The commands that have no way to a remote service, each with the reason that it gives. */
const besideOnly: Readonly<Record<string, string>> = {
  backup: "The files are on the machine of the service.",
  "record-backup": "The files are on the machine of the service.",
  restore: "The files are on the machine of the service.",
  "finish-restore": "The files are on the machine of the service.",
  "person prove-erased": "The database, logs and dumps are on the machine of the service.",
  "database where": "The files are on the machine of the service.",
  "database remove": "The files are on the machine of the service.",
  "re-encrypt": "The keys are in the configuration of the service.",
  "replace-lost-keys": "The keys are in the configuration of the service.",
  migrate: "The service migrates its database when it starts.",
  "check-config": "The configuration is on the machine of the service.",
};

/** The commands that only a running service answers, each with the reason that it gives. */
const remoteOnly: Readonly<Record<string, string>> = {
  "app view": "The service answers as it answers the app.",
  "card print": "It makes the cards with the addresses that the service has.",
  "card fetch": "It makes the cards with the addresses that the service has.",
  "card replace": "It makes the cards with the addresses that the service has.",
  "class-list open": "The service makes the code with a key that it alone has.",
  "person explain": "The service makes the decision.",
  "person data": "The service collects it.",
  listen: "It makes the deliveries.",
  health: "Only a running process knows its own state.",
};

/** The commands that need neither a database nor a service. */
const own = [
  ...["import template", "webhook debug-signature", "check-app", "check-schulconnex"],
  ...["remote login", "remote list", "remote use", "remote logout", "remote show", "logout", "completion"],
];

async function listAll(): Promise<[path: string, command: Command][]> {
  const all: [string, Command][] = [];
  for (const [name, entry] of Object.entries(commands))
    if ("run" in entry) all.push([name, entry]);
    else
      for (const [verb, command] of Object.entries((await entry.load()).verbs)) all.push([`${name} ${verb}`, command]);
  return all;
}

test("every command has a way to a remote service, or is in a short list with a reason", async () => {
  const all = await listAll();
  const reasons = all.flatMap(([path, command]) => (command.on === "machine" ? [[path, command.reason]] : []));
  expect(Object.fromEntries(reasons)).toEqual(besideOnly);
  const others = all.flatMap(([path, command]) =>
    command.on === "service" && command.remoteOnly !== undefined ? [[path, command.remoteOnly]] : [],
  );
  expect(Object.fromEntries(others)).toEqual(remoteOnly);
  expect(
    all
      .filter(([, command]) => command.on === "its own")
      .map(([path]) => path)
      .sort(),
  ).toEqual(own.toSorted());
  expect(all.length).toBeGreaterThan(80);
});
