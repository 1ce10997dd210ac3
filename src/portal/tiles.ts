import { Router, type Request, type Response } from "express";
import { personMaySignIn, type ClientId } from "../access/index.ts";
import type { PersonId } from "../directory/index.ts";
import type { Db, Queryable } from "../platform/db.ts";
import { fields, findRows, sql, statement, table } from "../platform/sql.ts";
import { showPage } from "./show-page.ts";

export type Tile = { clientId: ClientId; name: string; loginUrl: string };

const p = table("person", "p");
const a = table("affiliation", "a");
const given = table("grant", "given");
const app = table("app");

const selectTiles = statement<{ personId: PersonId }>(
  ({ personId }) => sql`
  SELECT DISTINCT ${fields<Tile>({ clientId: app.clientId, name: app.name, loginUrl: app.loginUrl })}
  FROM ${p}
  JOIN ${a} ON ${a.personId} = ${p.id}
  JOIN ${given} ON ${given.schoolId} = ${a.schoolId}
  JOIN ${app} ON ${app.clientId} = ${given.clientId}
  WHERE ${p.id} = ${personId} AND ${p.blockedAt} IS NULL AND ${app.loginUrl} IS NOT NULL
    AND ${personMaySignIn(app.clientId, p)}
  ORDER BY ${app.name}, ${app.clientId}`,
  "portal.listTiles",
);

/** The apps that a person may sign in to and that have a login URL. */
export const listTiles = (db: Queryable, personId: PersonId): Promise<Tile[]> =>
  findRows<Tile, { personId: PersonId }>(db, selectTiles, { personId });

export type PortalOptions = {
  db: Db;
  issuerUrl: string;
  signInPath: string;
  signOutPath: string;
  findSignedInPerson(req: Request, res: Response): Promise<PersonId | null>;
  /** Null for a person without a name. */
  findPersonName(personId: PersonId): Promise<string | null>;
  makeLoginHint(personId: PersonId, clientId: string): Promise<string> | string;
};

/** Serves `/`: the tiles of whoever is signed in, or the way to sign in. */
export function makePortalRouter(options: PortalOptions): Router {
  const router = Router();
  router.get("/", async (req, res) => {
    const personId = await options.findSignedInPerson(req, res);
    if (personId === null) {
      showPage(req, res, "welcome", { title: (t) => t("welcome.title"), model: { signInPath: options.signInPath } });
      return;
    }
    const [personName, tiles] = await Promise.all([
      options.findPersonName(personId),
      listTiles(options.db.pool, personId),
    ]);
    const links = await Promise.all(
      tiles.map(async (tile) => ({ name: tile.name, url: await makeTileUrl(options, personId, tile) })),
    );
    showPage(req, res, "tiles", {
      title: (t) => t("tiles.title"),
      model: { personName, links, signOutPath: options.signOutPath },
    });
  });
  return router;
}

async function makeTileUrl(
  { issuerUrl, makeLoginHint }: PortalOptions,
  personId: PersonId,
  tile: Tile,
): Promise<string> {
  const url = new URL(tile.loginUrl);
  url.searchParams.set("iss", issuerUrl);
  url.searchParams.set("login_hint", await makeLoginHint(personId, tile.clientId));
  return url.href;
}
