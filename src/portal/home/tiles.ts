import { join } from "node:path";
import { Router, type Request, type Response } from "express";
import { targetOfRole, type AdminSchemas } from "../../admin/index.ts";
import { findLogo, findProfiles, personMaySignIn, type ClientId } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { PrismaDb, RecordStore } from "../../platform/database/db.ts";
import { fields, makeFind, sql, table } from "../../platform/database/sql.ts";
import type { Queryable } from "../../platform/database/sql.ts";
import { makeTemplates, readLocale, renderPage, type Locale, type Translate } from "../../platform/pages/index.ts";
import { addFrameTexts } from "../frame/index.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };

type Tile = { clientId: ClientId; name: string; loginUrl: string; lastSignInAt: Date | null };

const p = table("person", "p");
const a = table("affiliation", "a");
const grantRow = table("grant", "given");
const app = table("app");
const used = table("signIn", "used");

const findTiles = makeFind<Tile, { personId: PersonId }>(
  ({ personId }) => sql`
  SELECT DISTINCT ${fields<Tile>({
    clientId: app.clientId,
    name: app.name,
    loginUrl: app.loginUrl,
    lastSignInAt: used.lastSignInAt,
  })}
  FROM ${p}
  JOIN ${a} ON ${a.personId} = ${p.id}
  JOIN ${grantRow} ON ${grantRow.schoolId} = ${a.schoolId}
  JOIN ${app} ON ${app.clientId} = ${grantRow.clientId}
  LEFT JOIN ${used} ON ${used.clientId} = ${app.clientId} AND ${used.personId} = ${p.id}
  WHERE ${p.id} = ${personId} AND ${p.blockedAt} IS NULL AND ${app.loginUrl} IS NOT NULL
    AND ${personMaySignIn(app.clientId, p)}
  ORDER BY ${used.lastSignInAt} DESC NULLS LAST, ${app.name}, ${app.clientId}`,
  "portal.listTiles",
);

/** The apps with a login URL that the person may sign in to, last used first. */
export const listTiles = (db: Queryable, personId: PersonId): Promise<Tile[]> => findTiles(db, { personId });

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

async function makeTileUrl({ issuerUrl, makeLoginHint }: TilesOptions, personId: PersonId, tile: Tile) {
  const url = new URL(tile.loginUrl);
  url.searchParams.set("iss", issuerUrl);
  url.searchParams.set("login_hint", await makeLoginHint(personId, tile.clientId));
  return url.href;
}

const translator = addFrameTexts({ de: german, en: english });
const render = makeTemplates(join(import.meta.dirname, "templates"));

type PageContent = { title(t: Translate): string; model: object };

function showPage(req: Request, res: Response, name: "tiles" | "welcome", { title, model }: PageContent): void {
  const locale = readLocale(req);
  const t = translator(locale);
  const page = renderPage(
    {
      title: title(t),
      body: render(name, { ...model, t, locale }),
      width: name === "tiles" ? "wide" : "narrow",
    },
    { locale, languageUrl: (other: Locale) => `/?lang=${other}` },
  );
  res.status(page.status).set(page.headers).send(page.html);
}

/** Serves the logos of apps. An address never changes its image. */
export function makeAppLogos(db: RecordStore): Router {
  const router = Router();
  router.get("/assets/apps/:clientId/:file", async (req, res, next) => {
    const logo = await findLogo(db, req.path);
    if (logo === null) return next();
    res.set({
      "Content-Type": logo.type,
      "Cache-Control": "public, max-age=31536000, immutable",
      "Content-Security-Policy": "default-src 'none'",
      "X-Content-Type-Options": "nosniff",
    });
    res.send(Buffer.from(logo.bytes));
  });
  return router;
}
