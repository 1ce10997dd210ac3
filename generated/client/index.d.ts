/**
 * The client of the service for apps: reads the IDM and Schulconnex APIs, verifies webhooks, and keeps a copy of what
 * an app may see. Web standard APIs only.
 */
export { createClient, type CallOptions, type ChangesOptions, type Client, type ClientOptions, type ErasuresOptions, type IdentifierOptions, type IdmClient, type ListDeletedOptions, type ListOptions, } from "./client.ts";
export type * from "./contract.ts";
export { eraseAsAsked, type Erase } from "./erase.ts";
export { ApiError, CursorExpiredError, NetworkError, TokenError, type NetworkErrorCode } from "./errors.ts";
export { readAll } from "./pages.ts";
export { makeMemoryStore, type MemoryStore } from "./sync/memory-store.ts";
export { makeSync, type Sync, type SyncOptions } from "./sync/sync.ts";
export type { Batch, GroupRecord, Hint, PersonRecord, ReceivedWebhook, RecordKey, RecordType, Rekeyed, SchoolRecord, Store, StoredRecord, } from "./sync/store.ts";
export { verifyWebhook, WebhookError, type VerifyOptions, type Webhook, type WebhookHeaders } from "./webhook.ts";
