import { addAsset, addContent, assetPaths } from "./assets.ts";

type Brand = {
  name: string;
  logoFile: string | null;
  colour: string | null;
  links: Readonly<Record<"legalNotice" | "privacy" | "accessibility" | "help", string | null>>;
};

type ShownBrand = { name: string; logo: string; style: string | null; links: [name: string, url: string][] };

let shown: ShownBrand = { name: "Schultor", logo: assetPaths.logo, style: null, links: [] };

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
