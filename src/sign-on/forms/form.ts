import type { Request, Response } from "express";
import type { Page } from "../../platform/pages/index.ts";

export function fieldOf(req: Request, name: string): string {
  const body = req.body as Record<string, unknown> | undefined;
  const value = body?.[name];
  return typeof value === "string" ? value : "";
}

export function sendPage(res: Response, page: Page): void {
  res.status(page.status).set(page.headers).send(page.html);
}
