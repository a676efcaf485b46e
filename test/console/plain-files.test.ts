import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { documentHeadersOf, documentOf } from '../../plugins/console/document.ts'
import { plainPage } from '../../plugins/console/texts/page.ts'

const folder = join(import.meta.dir, '../../plugins/console/page')

const filesWith = (extension: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(extension))

const paths = {
  ...{ session: '/api/session', tokens: '/api/tokens', usage: '/api/usage', library: '/api/media/proxy' },
  ...{ faceVerification: '/api/media/face-verifications', text: '/v1' },
}

// A runtime without a bundler serves them: a checkout on Deno.
describe('the page as its files are', () => {
  const html = documentOf({ prefix: '/console', paths, page: plainPage })
  const namesIn = [...new Set([...html.matchAll(/"\.\/console\/([^"]+)"/g)].map(([, name = '']) => name))]

  test('names all modules of the folder but those of operators, and only files that exist', () => {
    const modules = filesWith('.js')
    expect(modules.length).toBeGreaterThan(60)
    // Only the page of an admin loads the operators' screens.
    const named = modules.filter((name) => !name.startsWith('admin/'))
    expect(namesIn).toEqual(expect.arrayContaining([...named, 'style.css', 'preact.js', 'uqr.js']))
    expect(namesIn.filter((name) => name.startsWith('admin/'))).toEqual([])
    expect(modules.length - named.length).toBeGreaterThan(30)
    for (const name of namesIn) expect([name, Object.hasOwn(plainPage.files, name)]).toEqual([name, true])
  })

  test('contains the text of each module under its name, and every style sheet in one', () => {
    for (const name of filesWith('.js')) {
      expect([name, plainPage.files[name]]).toEqual([name, readFileSync(join(folder, name), 'utf8')])
    }
    const sheets = filesWith('.css')
    expect(sheets.length).toBeGreaterThan(10)
    for (const name of sheets) {
      const text = readFileSync(join(folder, name), 'utf8')
      expect([name, plainPage.files['style.css']?.includes(text)]).toEqual([name, true])
    }
  })

  test('allows its inline import map by its hash, and no other inline script', () => {
    const inline = [...html.matchAll(/<script(?![^>]*src=)[^>]*>([^<]*)<\/script>/g)]
    expect(inline.length).toBe(1)
    const policy = documentHeadersOf({ prefix: '/console', page: plainPage })['content-security-policy']
    const hash = createHash('sha256')
      .update(inline[0]?.[1] ?? '')
      .digest('base64')
    expect(policy).toStartWith(`default-src 'none'; script-src 'self' 'sha256-${hash}'; style-src 'self'; `)
  })

  test('imports only files that it has', () => {
    for (const [name, text] of Object.entries(plainPage.files)) {
      for (const [, to = ''] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
        const path = new URL(to, `http://localhost/${name}`).pathname.slice(1)
        expect([name, to, Object.hasOwn(plainPage.files, path)]).toEqual([name, to, true])
      }
    }
  })
})
