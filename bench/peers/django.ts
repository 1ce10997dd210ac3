import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ClientId } from "../../src/access/index.ts";
import { findPort } from "../../test/support/find-port.ts";
import { makeKey, Missing, peerApp, scope, type Start, startProgram } from "./peer.ts";

const sources = join(import.meta.dirname, "django");
const endpoints = { authorization: "/o/authorize/", token: "/o/token/" };
const [gunicorn, python] = ["/usr/bin/gunicorn", "/usr/bin/python3"];
const library = "/usr/lib/python3/dist-packages";
const needed = [gunicorn, `${library}/oauth2_provider`, `${library}/psycopg2`];
// A client of django-oauth-toolkit has one kind of grant.
const machineApp = { ...peerApp, clientId: "bench-machine" as ClientId };

export const startDjango: Start = async ({ databaseUrl, folder, people }) => {
  if (!needed.every((path) => existsSync(path)))
    throw new Missing("Debian's packages python3-django-oauth-toolkit, python3-psycopg2 and gunicorn are needed.");
  const database = new URL(databaseUrl);
  const env = {
    PGDATABASE: database.pathname.slice(1),
    PGHOST: database.searchParams.get("host") ?? database.hostname,
    PGPORT: database.port,
    PGUSER: decodeURIComponent(database.username),
    PGPASSWORD: decodeURIComponent(database.password),
    CLIENT_ID: peerApp.clientId,
    MACHINE_ID: machineApp.clientId,
    CLIENT_SECRET: peerApp.clientSecret!,
    REDIRECT_URI: peerApp.redirectUri,
    SCOPE: scope,
    PRIVATE_KEY: makeKey().privateKey,
    PEOPLE: String(people),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const { stdout } = await promisify(execFile)(python, [join(sources, "provider.py")], {
    cwd: folder,
    env: { ...process.env, ...env },
  });
  const url = `http://127.0.0.1:${await findPort()}`;
  const args = [
    ...["--chdir", sources, "--bind", new URL(url).host, "--workers", "1", "--worker-class", "gthread"],
    ...["--threads", "20", "--keep-alive", "60", "--log-level", "error", "provider:application"],
  ];
  const program = await startProgram({ program: gunicorn, args, env, cwd: folder, url });
  const person = { url, app: peerApp, endpoints };
  const sides = (JSON.parse(stdout) as string[]).map((cookies) => ({ ...person, cookies }));
  return { ...program, sides, machine: { url, app: machineApp, endpoints } };
};
