import { bundle } from './bundle.ts'
import type { PageTexts } from './page-texts.ts'

/**
 * The page's files: bundled, or as they are where the runtime has no bundler, as in a checkout on Deno.
 *
 * `bun run build` replaces this module by one that contains the bundle.
 */
export const readPageTexts = async (): Promise<PageTexts> => {
  const { plainPage } = await import('./texts/page.ts')
  return (await bundle(plainPage)) ?? plainPage
}
