import { describe, expect, test } from 'bun:test'
import { createResponseChecker, type ResponseChecker } from '../support/check-response.ts'
import { takeProblems } from '../support/checked-servers.ts'
import { documentOfServer } from '../support/document.ts'
import { startGateway } from '../support/gateway.ts'
import type { SentResponse } from '../support/record-responses.ts'

const document = await documentOfServer()
const all = createResponseChecker(document)
const own = createResponseChecker(document, 'own')

const noStore = { 'cache-control': 'no-store' }
const json = { 'content-type': 'application/json', ...noStore }
const problem = { success: false, error: { message: 'no', type: 'media_proxy_error' } }
const asset = {
  Id: 'a',
  GroupId: 'g',
  AssetType: 'Image',
  Status: 'Active',
  URL: 'u',
  CreateTime: 't',
  UpdateTime: 't',
}

const problemsOf = (
  { body, ...sent }: Partial<Omit<SentResponse, 'body'>> & { readonly body?: unknown },
  { checker = all, isForwarded = false }: { checker?: ResponseChecker; isForwarded?: boolean } = {},
) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const base = { port: 1, method: 'GET', target: '/api/media/proxy/assets/a', status: 200, headers: json }
  return checker.problemsOf({ ...base, ...sent, body: text }, isForwarded)
}

describe('the check of responses against the OpenAPI document', () => {
  test('passes what is documented', () => {
    expect(problemsOf({ body: { Result: { ...asset, Name: 'n', more: 1 } } })).toEqual([])
    expect(problemsOf({ method: 'DELETE', status: 204, headers: noStore, body: '' })).toEqual([])
    expect(problemsOf({ status: 403, body: problem })).toEqual([])
    expect(problemsOf({ target: '/nowhere', status: 404, body: problem })).toEqual([])
    const event = 'data: {"error":{"message":"m","type":"t","param":null,"code":null}}\n\ndata: [DONE]\n\n'
    const headers = { ...json, 'content-type': 'text/event-stream; charset=utf-8' }
    expect(problemsOf({ method: 'POST', target: '/v1/chat/completions', headers, body: event })).toEqual([])
  })

  test('finds a field that is missing or wrong', () => {
    const { Status: _, ...unfinished } = asset
    expect(problemsOf({ body: { Result: unfinished } })).toEqual([
      "body of 200/Result must have required property 'Status'",
    ])
    expect(problemsOf({ body: { Result: { ...asset, URL: 1 } } })).toEqual(['body of 200/Result/URL must be string'])
    expect(problemsOf({ status: 403, body: { error: 'no' } })).not.toEqual([])
    const list = { Items: [asset], NextToken: '', TotalCount: '1' }
    const target = '/api/media/proxy/assets?PageSize=1'
    expect(problemsOf({ target, body: { Result: list } })).toEqual(['body of 200/Result/TotalCount must be integer'])
    const [wrong] = problemsOf({
      ...{ method: 'POST', target: '/v1/chat/completions', headers: { ...json, 'content-type': 'text/event-stream' } },
      body: 'data: {"choices":[]}\n\n',
    })
    expect(wrong).toContain('event')
  })

  test('finds a status, a content type, a header and a route that are not documented', () => {
    expect(problemsOf({ status: 418, body: problem })).toEqual(['status 418 is not documented'])
    expect(problemsOf({ headers: { ...json, 'content-type': 'text/html' }, body: '<p>' })).toEqual([
      'content type text/html is not documented',
    ])
    expect(problemsOf({ headers: noStore, body: '' })).toEqual(['the body is empty'])
    expect(problemsOf({ status: 401, body: problem })).toEqual(['header www-authenticate is missing'])
    expect(problemsOf({ status: 429, headers: { ...json, 'retry-after': '-1' }, body: problem })).toEqual([
      'header retry-after must be >= 0',
    ])
    expect(problemsOf({ target: '/api/secret', body: {} })).toEqual(['the route is not documented'])
    expect(problemsOf({ method: 'POST', status: 405, body: problem })).toEqual(['header allow is missing'])
  })

  test('exempts forwarded errors on the routes that forward, and fields of the upstream where the test says so', () => {
    const foreign = { status: 418, headers: { ...json, 'content-type': 'text/plain' }, body: 'teapot' }
    expect(problemsOf(foreign, { isForwarded: true })).toEqual([])
    expect(problemsOf({ ...foreign, target: '/api/tokens' }, { isForwarded: true })).toEqual([
      'an error of the upstream is not documented',
    ])
    expect(problemsOf({ body: { Result: { Id: 1 } } }, { checker: own })).toEqual([])
    expect(problemsOf({ body: { Wrong: 1 } }, { checker: own })).not.toEqual([])
    expect(problemsOf({ status: 418, body: problem }, { checker: own })).toEqual(['status 418 is not documented'])
  })

  test('finds a response that a cache may store', () => {
    const headers = { 'content-type': 'application/json' }
    expect(problemsOf({ body: { Result: asset }, headers })).toEqual(['the response may be cached'])
  })

  test('sees the responses of the gateways of the tests', async () => {
    const respond = (status: number) => () => Response.json({ error: 'wrong' }, { status, headers: json })
    await using gateway = await startGateway({ around: () => respond(418) })
    await (await fetch(`${gateway.url}/v1/models`)).text()
    expect(takeProblems()).toEqual(['GET /v1/models 418: status 418 is not documented in {"error":"wrong"}'])
  })
})
