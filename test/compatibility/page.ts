import { readFileSync } from "node:fs";
import { join } from "node:path";
import { backchannelPathOf, clients, fileOf, steps, type Client, type Step } from "./clients.ts";
import { replays, type Replay } from "./replays.ts";
import { rosterReplays, type RosterReplay } from "./rosters.ts";

const here = import.meta.dirname;
export const resultsFile = join(here, "results.json");
export const pageFile = join(here, "../../docs/compatibility.md");

export type Result = "yes" | "no" | "not offered";
/** By the names of the programs. */
export type Results = Record<string, { version: string; tried?: string } & Record<Step, Result>>;

export const readResults = (): Results => JSON.parse(readFileSync(resultsFile, "utf8")) as Results;

const signs: Record<Result, string> = { yes: "✓", no: "fails", "not offered": "–" };

/** What stands between the markers of a program. */
function readConfiguration(client: Client): string {
  const code = readFileSync(join(here, "programs", fileOf(client)), "utf8");
  const [, configuration] = /^.*configuration\n([^]*?)\n.*end of configuration$/m.exec(code) ?? [];
  if (configuration === undefined) throw new Error(`${client.program} marks no configuration`);
  return configuration;
}

function describeRegistration(client: Client | Replay): string {
  const { callback, offers, registration = {} } = client;
  const logout = "the post-logout redirect URI `https://app.example/`";
  const parts = [
    `the redirect URI \`https://app.example${callback}\``,
    ...(offers.includes("logout") ? [logout] : []),
    ...(offers.includes("backchannelLogout")
      ? [`the back-channel logout address \`https://app.example${backchannelPathOf(client as Client)}\``]
      : []),
    ...(registration.pkceRequired === false ? ["PKCE not required"] : []),
    ...("tokenEndpointAuthMethod" in registration
      ? [`the client authentication \`${String(registration.tokenEndpointAuthMethod)}\``]
      : []),
  ];
  return `Register ${new Intl.ListFormat("en").format(parts)}.`;
}

/** The whole page of the documentation. */
export function printPage(): string {
  const results = readResults();
  const row = (cells: string[]) => `| ${cells.join(" | ")} |`;
  const header = ["Client", "Version", ...Object.values(steps)];
  const rows = clients.map(({ name, program }) => {
    const { version, tried, ...did } = results[program]!;
    return row([
      `[${name}](#${anchorOf(name)})`,
      tried ? `${version} (${tried})` : version,
      ...Object.keys(steps).map((step) => signs[did[step as Step]]),
    ]);
  });
  const replayed = replays.map(({ name, version, offers }) =>
    row([
      `[${name}](#${anchorOf(name)})`,
      `${version} (replayed)`,
      ...Object.keys(steps).map((step) => signs[offers.includes(step as Step) ? "yes" : "not offered"]),
    ]),
  );
  const replaySections = replays.map((replay) =>
    [`## ${replay.name}`, `${describeRegistration(replay)} ${replay.note}`].join("\n\n"),
  );
  const sections = clients.map((client) =>
    [
      `## ${client.name}`,
      `${describeRegistration(client)}${client.note ? ` ${client.note}` : ""}`,
      `\`\`\`${languageOf(client)}\n${readConfiguration(client)}\n\`\`\``,
    ].join("\n\n"),
  );
  const table = [row(header), row(header.map(() => "---")), ...rows, ...replayed].join("\n");
  return `${[introduction, table, legend, ...sections, ...replaySections, ...describeRosters()].join("\n\n")}\n`;
}

function describeRosters(): string[] {
  const count = ({ steps, fails }: RosterReplay) => `${steps - Object.keys(fails).length} of ${steps}`;
  const rows = rosterReplays.map((replay) =>
    [`[${replay.name}](#${anchorOf(replay.name)})`, replay.source, count(replay)].join(" | "),
  );
  const table = ["Program | Read from | Steps that get what it expects", "--- | --- | ---", ...rows];
  const sections = rosterReplays.map(({ name, settings, registration, fails, note }: RosterReplay) => {
    const fields = ["Field | Type", "--- | ---", ...Object.entries(settings).map((field) => field.join(" | "))];
    const failed = Object.entries(fails).map(([step, reason]) => `- *${step}* fails: ${reason}.`);
    const defaults =
      registration.defaultScopes === undefined
        ? ""
        : ", the last one also as a default permission, because it asks for no scope";
    const register = `Register the permissions \`schools:read\`, \`groups:read\`, \`people:read\` and \`oneroster:read\`${defaults}.`;
    const parts = [`### ${name}`, `${register} ${note}`, inTable(fields), failed.join("\n")];
    return parts.filter((part) => part !== "").join("\n\n");
  });
  return ["## Programs that read OneRoster", rosterIntroduction, inTable(table), ...sections];
}

const inTable = (lines: readonly string[]) => lines.map((line) => `| ${line} |`).join("\n");

/** The word keeps other tests from running it. */
const languageOf = ({ program, command }: Client) =>
  command ? (program.endsWith(".py") ? "python compatibility" : "text") : "js compatibility";
const anchorOf = (name: string) =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_ -]/g, "")
    .replaceAll(" ", "-");

const introduction = `# Clients that were tried

Each of these libraries was run unchanged against this service: a person signed in, and the app did what the columns say. \`npm run compatibility\`
repeats it and writes this page. Those marked *replayed* did not run: their requests were read from their code, and a test sends one after the
other and reads the answers as they do.`;

const rosterIntroduction = `None of these programs ran here. Their requests were read from their published code; a test sends one after the other, and reads the answers
as they do.`;

const legend = `✓ works, – is not offered by the library or was not replayed. *Userinfo* and *Refresh* are calls of the library. *Logout from the app* ends
both sessions and returns to the app. *Back-channel logout* ends the app's session after a logout elsewhere. A date is when a package of
Debian was last tried; the others are tried, or replayed, with each change.

Below is the configuration that was run. \`ISSUER\` is the address of the service, \`BASE_URL\` the address of the app.`;
