/** Runs with `--all`: processes of the linter. The other tests check all responses against the document. */
import { expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { documentOfServer } from '../support/document.ts'

const root = new URL('../../', import.meta.url).pathname

/** A WebSocket connection begins with status 101, and a login at an identity provider is two redirects. */
const withoutSuccess = ['~1v1~1responses', '~1api~1session~1oidc', '~1api~1session~1oidc~1callback']
/** The browser of a person is redirected to the page. */
const withoutSuccessOfPost = ['withdraw', 'delete'].map(
  (act) => `~1api~1media~1face-verifications~1consent~1{secret}~1${act}`,
)
/** Take no parameter and ask for no credentials. */
const withoutRejection = ['~1api~1failure-advice', '~1api~1media~1face-verifications~1consent-keys']
/** The router prefers the path without a parameter, and no id of an asset is `groups` or `batches`. */
const ambiguous = ['assets~1{asset_id}~1uses', 'assets~1batches~1{batch_id}']
const ambiguousPaths = `[${ambiguous.map((path) => `'#/paths/~1api~1media~1proxy~1${path}'`)}]`
const responsesOf = (gets: readonly string[], posts: readonly string[] = []) =>
  `[${[...gets.map((path) => `'#/paths/${path}/get/responses'`), ...posts.map((path) => `'#/paths/${path}/post/responses'`)]}]`
const exceptions = `openapi.json: { operation-2xx-response: ${responsesOf(withoutSuccess, withoutSuccessOfPost)}, operation-4xx-response: ${responsesOf(withoutRejection)}, no-ambiguous-paths: ${ambiguousPaths} }\n`

/**
 * Lints a document with the strictest rule sets of the linter: the rules of the specification, and `recommended` with warnings as errors. The latter
 * comes last, because `spec` turns off the rules that it does not need.
 */
const lint = async (document: object) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-openapi-'))
  try {
    await writeFile(join(folder, 'redocly.yaml'), 'extends: [spec, recommended-strict]\n')
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(document))
    await writeFile(join(folder, '.redocly.lint-ignore.yaml'), exceptions)
    const cli = join(root, 'node_modules/@redocly/cli/bin/cli.js')
    const child = Bun.spawn([process.execPath, cli, 'lint', '--format', 'json', 'openapi.json'], {
      cwd: folder,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      stderr: 'ignore',
    })
    const { totals, problems } = JSON.parse(await new Response(child.stdout).text())
    const rules = problems
      .filter(({ ignored }: { readonly ignored?: boolean }) => !ignored)
      .map(({ ruleId }: { readonly ruleId: string }) => ruleId)
    return { ...totals, rules: [...new Set(rules)] }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

test('the OpenAPI document of the server has no errors and no warnings', async () => {
  const document = await documentOfServer()
  expect(Object.keys(document.paths).length).toBeGreaterThan(15)
  expect(await lint(document)).toEqual({
    errors: 0,
    warnings: 0,
    ignored: withoutSuccess.length + withoutSuccessOfPost.length + withoutRejection.length + ambiguous.length,
    rules: [],
  })
})

test('the linter finds an operation without security, and a status that does not exist', async () => {
  const document = await documentOfServer()
  const { security, ...operation } = document.paths['/v1/models']?.get ?? {}
  const rulesWith = async (get: object) =>
    (await lint({ ...document, paths: { ...document.paths, '/v1/models': { get } } })).rules
  expect(await rulesWith(operation)).toEqual(['security-defined'])
  const responses = { ...operation.responses, 99: { description: 'no such status' } }
  expect(await rulesWith({ ...operation, security, responses })).toEqual(['struct'])
})
