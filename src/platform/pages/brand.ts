import { addAsset, addContent, assetPaths } from "./assets.ts";

/**
 * How the operator appears on every page.
 *
 * Shape: `colour` is `#rrggbb`, dark enough for white text; null stands for no logo, colour or link of one's own.
 */
export type Brand = {
  name: string;
  logoFile: string | null;
  colour: string | null;
  links: Readonly<Record<"legalNotice" | "privacy" | "accessibility" | "help", string | null>>;
};

export type ShownBrand = { name: string; logo: string; style: string | null; links: [name: string, url: string][] };

let shown: ShownBrand = { name: "Schultor", logo: assetPaths.logo, style: null, links: [] };

/**
 * Gives every page of this process the name, logo, colour and links of its operator.
 *
 * Errors: a logo file that cannot be read, or is neither SVG nor PNG, throws.
 */
export function useBrand({ name, logoFile, colour, links }: Brand): void {
  shown = {
    name,
    logo: logoFile === null ? assetPaths.logo : addAsset(logoFile),
    style: colour === null ? null : addContent("brand", ".css", Buffer.from(colours(colour))),
    links: Object.entries(links).flatMap(([link, url]) => (url === null ? [] : [[link, url]])),
  };
}

export const brandOfPages = (): ShownBrand => shown;

const colours = (colour: string): string => `:root {
  --gate: ${colour};
  --gate-deep: color-mix(in srgb, ${colour} 75%, black);
  --tint: color-mix(in srgb, ${colour} 10%, white);
  --band: ${colour};
}
@media (prefers-color-scheme: dark) {
  :root {
    --gate: color-mix(in srgb, ${colour} 40%, white);
    --gate-deep: color-mix(in srgb, ${colour} 25%, white);
    --tint: color-mix(in srgb, ${colour} 25%, #16272a);
    --band: color-mix(in srgb, ${colour} 60%, black);
  }
}
`;
