import { Router, type Request, type Response } from "express";
import { targetOfRole, type AdminSchemas } from "../../admin/index.ts";
import { findProfiles, personMaySignIn, type ClientId } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { PrismaDb } from "../../platform/database/db.ts";
import { fields, findRows, type Queryable, sql, statement, table } from "../../platform/database/sql.ts";
import { showPage } from "./show-page.ts";

type Tile = { clientId: ClientId; name: string; loginUrl: string; lastSignInAt: Date | null };

const p = table("person", "p");
const a = table("affiliation", "a");
const given = table("grant", "given");
const app = table("app");
const used = table("signIn", "used");

const selectTiles = statement<{ personId: PersonId }>(
  ({ personId }) => sql`
  SELECT DISTINCT ${fields<Tile>({
    clientId: app.clientId,
    name: app.name,
    loginUrl: app.loginUrl,
    lastSignInAt: used.lastSignInAt,
  })}
  FROM ${p}
  JOIN ${a} ON ${a.personId} = ${p.id}
  JOIN ${given} ON ${given.schoolId} = ${a.schoolId}
  JOIN ${app} ON ${app.clientId} = ${given.clientId}
  LEFT JOIN ${used} ON ${used.clientId} = ${app.clientId} AND ${used.personId} = ${p.id}
  WHERE ${p.id} = ${personId} AND ${p.blockedAt} IS NULL AND ${app.loginUrl} IS NOT NULL
    AND ${personMaySignIn(app.clientId, p)}
  ORDER BY ${used.lastSignInAt} DESC NULLS LAST, ${app.name}, ${app.clientId}`,
  "portal.listTiles",
);

/** The apps with a login URL that the person may sign in to, last used first. */
export const listTiles = (db: Queryable, personId: PersonId): Promise<Tile[]> =>
  findRows<Tile, { personId: PersonId }>(db, selectTiles, { personId });

export type TilesOptions = {
  db: PrismaDb;
  issuerUrl: string;
  signInPath: string;
  signOutPath: string;
  findSignedIn(req: Request, res: Response): Promise<{ personId: PersonId; isOnSharedDevice: boolean } | null>;
  findStaffRoles(personId: PersonId): Promise<AdminSchemas["StaffRoleName"][]>;
  findPersonName(personId: PersonId): Promise<string | null>;
  makeLoginHint(personId: PersonId, clientId: string): Promise<string> | string;
};

/** Serves `/`: the tiles of a person who is signed in, otherwise the welcome page. */
export function makeTilesRouter(options: TilesOptions): Router {
  const router = Router();
  router.get("/", async (req, res) => {
    const signedIn = await options.findSignedIn(req, res);
    if (signedIn === null) {
      showPage(req, res, "welcome", { title: (t) => t("welcome.title"), model: { signInPath: options.signInPath } });
      return;
    }
    const { personId, isOnSharedDevice } = signedIn;
    const [personName, tiles, roles] = await Promise.all([
      options.findPersonName(personId),
      listTiles(options.db.pool, personId),
      options.findStaffRoles(personId),
    ]);
    const profiles = await findProfiles(
      options.db,
      tiles.map(({ clientId }) => clientId),
    );
    const links = await Promise.all(
      tiles.map(async (tile) => ({
        name: tile.name,
        logo: profiles.get(tile.clientId)?.logoPath ?? null,
        url: await makeTileUrl(options, personId, tile),
      })),
    );
    const isOnlyPartner = roles.length > 0 && roles.every((role) => targetOfRole(role) === "apps");
    const staffPath = roles.length === 0 ? null : isOnlyPartner ? "/partner" : "/admin";
    showPage(req, res, "tiles", {
      title: (t) => t("tiles.title"),
      model: { personName, links, staffPath, isOnSharedDevice, signOutPath: options.signOutPath },
    });
  });
  return router;
}

async function makeTileUrl(
  { issuerUrl, makeLoginHint }: TilesOptions,
  personId: PersonId,
  tile: Tile,
): Promise<string> {
  const url = new URL(tile.loginUrl);
  url.searchParams.set("iss", issuerUrl);
  url.searchParams.set("login_hint", await makeLoginHint(personId, tile.clientId));
  return url.href;
}
