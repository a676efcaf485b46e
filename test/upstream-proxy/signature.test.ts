import { describe, expect, test } from 'bun:test'
import { arkAuthorization, arkDate } from '../../plugins/upstream-proxy/index.ts'
import { bodyHash, canonicalHash, type Signable } from '../../plugins/upstream-proxy/library/ark-signature.ts'

const vectorA = async () => {
  const body = '{"AssetId":"asset-1","Name":"A B"}'
  const hash = await bodyHash(body)
  const request: Signable = {
    method: 'POST',
    host: 'ark.cn-beijing.volcengineapi.com',
    query: { Version: '2024-01-01', PageNumber: '1', Action: 'ListAssets' },
    headers: { 'x-date': '20240102T030405Z', 'x-content-sha256': hash, 'content-type': 'application/json' },
    body,
  }
  return { request, hash }
}

const vectorB = async () => {
  const body = '{"ProjectName":"default"}'
  const hash = await bodyHash(body)
  const request: Signable = {
    method: 'POST',
    host: 'open.volcengineapi.com',
    query: { Action: 'ListAssets', Version: '2024-01-01' },
    headers: { 'x-date': '20260826T010203Z', 'x-content-sha256': hash },
    body,
  }
  return { request, hash }
}

describe('the request signature of the vendor', () => {
  test('vector A', async () => {
    const { request, hash } = await vectorA()
    expect(hash).toBe('e280d025e397a7b39c92c34ac0621014f9e24477a1d220e4121aa5486d850a73')
    expect(await canonicalHash(request, hash)).toBe('48c234c5eeb387f0eef410fcd5674b69ed2755b91bacbe9332d001ba1a643275')
    const credentials = { accessKey: 'AKLTEXAMPLE', secretKey: 'secretEXAMPLE', region: 'cn-beijing' }
    expect(await arkAuthorization(request, credentials)).toBe(
      'HMAC-SHA256 Credential=AKLTEXAMPLE/20240102/cn-beijing/ark/request, ' +
        'SignedHeaders=content-type;host;x-content-sha256;x-date, ' +
        'Signature=43984fbc60e0ce6c51ba6c5fe5557ae621d9171bbdd96b28d4c5259f5babe731',
    )
  })

  test('vector B', async () => {
    const { request, hash } = await vectorB()
    expect(hash).toBe('7e0a39e645f91c0fa13aea4108715f9f85a3f55f8d3e6af22c41b5b9d11fbde3')
    expect(await canonicalHash(request, hash)).toBe('0470641aaa50a37de9acdeaa2c570c7cfa9e23a17f6b55094fcadf396cc06f67')
    const credentials = { accessKey: 'AKLTEXAMPLE1234567890', secretKey: 'example-secret', region: 'cn-beijing' }
    expect(await arkAuthorization(request, credentials)).toEndWith(
      'Signature=4b84e55069ecc0e89e44f8541d5b1690a4f9ce1cb33a4341f8ac196026d16ea1',
    )
  })

  test('vector C', async () => {
    const request: Signable = {
      method: 'GET',
      host: 'iam.byteplusapi.com',
      query: { Action: 'ListUsers', Version: '2018-01-01', Limit: '10', Offset: '0' },
      headers: {
        'x-date': '20201230T081805Z',
        'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
        'x-content-sha256': await bodyHash(''),
      },
      body: '',
    }
    expect(await canonicalHash(request, await bodyHash(''))).toBe(
      '4809ff4a3260bb6714f750191275cfcf0c16466951fcfd99187e69644b6ae020',
    )
  })

  test('the body hash is computed when no header contains it', async () => {
    const { request } = await vectorB()
    const bare = { ...request, headers: { 'x-date': request.headers['x-date'] } }
    const credentials = { accessKey: 'a', secretKey: 's', region: 'r' }
    const changed = await arkAuthorization({ ...bare, body: '{}' }, credentials)
    expect(await arkAuthorization(bare, credentials)).not.toBe(changed)
  })

  test('query values are encoded as in RFC 3986, and the scope contains the service', async () => {
    const { request, hash } = await vectorB()
    const encoded = { ...request, query: { a: "!'()* ~" } }
    expect(await canonicalHash(encoded, hash)).not.toBe(await canonicalHash({ ...request, query: { a: '~' } }, hash))
    const credentials = { accessKey: 'a', secretKey: 's', region: 'r', service: 'iam' }
    expect(await arkAuthorization(request, credentials)).toContain('/r/iam/request')
  })

  test('the date has the vendor’s format', () => {
    expect(arkDate(Date.UTC(2024, 0, 2, 3, 4, 5, 678))).toBe('20240102T030405Z')
  })
})
