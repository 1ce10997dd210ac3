import { createHash, timingSafeEqual } from "node:crypto";
import { Router } from "express";
import { Registry } from "prom-client";

const digest = (text: string) => createHash("sha256").update(text).digest();

type Served = { read: () => Promise<string>; token?: string | undefined };

export function makeMetricsRouter({ read, token }: Served): Router {
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
    res.set({ "Content-Type": Registry.PROMETHEUS_CONTENT_TYPE, "Cache-Control": "no-store" }).send(await read());
  });
  return router;
}
