import { Router } from "express";
import { findLogo } from "../../access/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";

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
