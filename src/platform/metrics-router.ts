import { createHash, timingSafeEqual } from "node:crypto";
import { Router } from "express";
import type { Metrics } from "./metrics.ts";

const digest = (text: string) => createHash("sha256").update(text).digest();

/** Serves /metrics in the Prometheus format; with a token set, only to whoever sends it as a bearer token. */
export function makeMetricsRouter({ metrics, token }: { metrics: Metrics; token?: string | undefined }): Router {
  const router = Router();
  router.get("/metrics", async (req, res) => {
    if (token !== undefined && !timingSafeEqual(digest(req.headers.authorization ?? ""), digest(`Bearer ${token}`))) {
      res
        .status(401)
        .set("WWW-Authenticate", "Bearer")
        .type("text/plain")
        .send("This address needs the metrics token.\n");
      return;
    }
    res
      .set({ "Content-Type": metrics.registry.contentType, "Cache-Control": "no-store" })
      .send(await metrics.registry.metrics());
  });
  return router;
}
