type Answer<Item> = {
    data?: Item[];
    response: Response;
};
/** Reads a list page by page; `read` gets the cursor of the page, and no cursor for the first one. */
export declare function readPages<Item>(read: (page: {
    cursor?: string;
}) => Promise<Answer<Item>>): AsyncGenerator<Item, void>;
/** Reads a list to its end. */
export declare function readAll<Item>(list: AsyncIterable<Item>): Promise<Item[]>;
export {};
