import { Router, type Request, type Response } from "express";
import type { PersonId } from "../directory/index.ts";
import { showPage } from "./show-page.ts";

type Tile = { clientId: string; name: string; loginUrl: string };

export type PortalOptions = {
  issuerUrl: string;
  signInPath: string;
  signOutPath: string;
  findSignedInPerson(req: Request, res: Response): Promise<PersonId | null>;
  /** Null for a person without a name. */
  findPersonName(personId: PersonId): Promise<string | null>;
  listTiles(personId: PersonId): Promise<Tile[]>;
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
    const [personName, tiles] = await Promise.all([options.findPersonName(personId), options.listTiles(personId)]);
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
