import demo from "../demo/demo.json" with { type: "json" };
import firstLook from "../demo/first-look.json" with { type: "json" };
import type { Config } from "./config/index.ts";

function listAddresses({ issuerUrl, baseUrl }: Config): { name: string; url: string }[] {
  return [
    { name: "Tiles and sign-on", url: `${issuerUrl}/` },
    { name: "Discovery", url: `${issuerUrl}/.well-known/openid-configuration` },
    { name: "IDM API", url: `${baseUrl}/idm/ep/v1/schools` },
    { name: "Reference", url: `${baseUrl}/docs` },
    { name: "Health", url: `${issuerUrl}/health/ready` },
  ];
}

function makeCurl({ issuerUrl, baseUrl, platform }: Config): string {
  const { clientId, clientSecret } = demo.apps[0]!;
  const token =
    `curl -s -u ${clientId}:${clientSecret} -d grant_type=client_credentials ` +
    `-d scope=urn:${platform}:idm:v1:schools:read ${issuerUrl}/oauth2/token | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/'`;
  return `curl -s -H "Authorization: Bearer $(${token})" ${baseUrl}/idm/ep/v1/schools`;
}

function table(rows: (readonly [string, string, ...string[]])[]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  return rows
    .map(
      (row) =>
        `  ${row
          .map((cell, at) => cell.padEnd(widths[at]!))
          .join("  ")
          .trimEnd()}`,
    )
    .join("\n");
}

type DemoApps = { running: readonly { clientId: string; name: string; url: string }[]; takenPorts: readonly number[] };

export function makeBanner(config: Config, { demoApps }: { demoApps: DemoApps | null }): string {
  const addresses = table(listAddresses(config).map(({ name, url }) => [name, url] as const));
  if (!config.demoWorld) return `\nSchultor is ready.\n${addresses}\n`;
  return [
    "",
    "Schultor is ready.",
    addresses,
    "",
    "Demo logins",
    table(demo.people.map((person) => [person.username, person.password, describe(person)] as const)),
    "",
    "Demo logins of the staff",
    table(listStaff(config)),
    "",
    "Read the schools that the demo app may see",
    `  ${makeCurl(config)}`,
    "",
    "Sign in with a demo app, by clicking",
    ...describeDemoApps(config, demoApps ?? { running: [], takenPorts: [] }),
    "",
  ].join("\n");
}

function describeDemoApps({ issuerUrl }: Config, { running, takenPorts }: DemoApps): string[] {
  const ports = takenPorts.toSorted().join(", ");
  const notRunning =
    takenPorts.length === 0 ? [] : [`  Not running, because other programs have their ports: ${ports}`];
  if (running.length === 0) return [`  ${issuerUrl}/sign-in   (the tiles; no demo app is running)`, ...notRunning];
  return [table(running.map(({ name, url }) => [`${url}login`, name] as const)), ...notRunning];
}

const pagesOf: Record<string, string> = { PARTNER: "/partner" };

function listStaff({ issuerUrl }: Config): (readonly [string, string, string, string])[] {
  const describeRole = (may: string) => may.toLowerCase().replace("_", " ");
  return [...demo.staff, ...firstLook.staff].map(({ username, password, may }) => [
    username,
    password,
    `${issuerUrl}${pagesOf[may] ?? "/admin"}`,
    describeRole(may),
  ]);
}

function describe({ role, schools, status }: (typeof demo.people)[number]): string {
  const names = schools.map((id) => demo.schools.find((school) => school.id === id)?.name);
  const deleted = status === "SOFT_DELETED" ? " (deleted: may not sign in)" : "";
  return `${role === "TEACHER" ? "teacher" : "student"}, ${names.join(" and ")}${deleted}`;
}
