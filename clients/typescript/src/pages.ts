type Answer<Item> = { data?: Item[]; response: Response };

/** Reads a list page by page; `read` gets the cursor of the page, and no cursor for the first one. */
export async function* readPages<Item>(
  read: (page: { cursor?: string }) => Promise<Answer<Item>>,
): AsyncGenerator<Item, void> {
  for (let page: { cursor?: string } | null = {}; page !== null;) {
    const { data, response }: Answer<Item> = await read(page);
    yield* data ?? [];
    const cursor = findNextCursor(response.headers.get("link"));
    page = cursor === null ? null : { cursor };
  }
}

/** Only the cursor is taken from the address, so that the token goes nowhere else. */
function findNextCursor(link: string | null): string | null {
  const address = /<([^>]*)>\s*;[^,]*\brel="?next\b/.exec(link ?? "")?.[1];
  return address === undefined ? null : new URL(address, "https://service.invalid").searchParams.get("cursor");
}

/** Reads a list to its end. */
export async function readAll<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}
