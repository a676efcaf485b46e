import { afterEach, expect, test } from 'bun:test'
import { documentedLimits, startEmulator } from '../../src/emulator/index.ts'
import { ark, arkRequest, rest } from './client.ts'
import { begin, CALLBACK, result, start, stopAll } from './face-client.ts'

afterEach(stopAll)

const create = (emulator: Parameters<typeof ark>[0], body: unknown) =>
  ark(emulator, 'CreateVisualValidateSession', body)

test('a new session has a token, a link to the emulator with temporary credentials, and its callback URL', async () => {
  const emulator = await start()
  const { Result, status } = await create(emulator, { CallbackURL: `${CALLBACK}?a=1&b=2` })
  expect(status).toBe(200)
  expect(Object.keys(Result)).toEqual(['BytedToken', 'H5Link', 'CallbackURL'])
  expect(Result.CallbackURL).toBe(`${CALLBACK}?a=1&b=2`)
  const link = new URL(Result.H5Link)
  expect(link.origin).toBe(emulator.origin)
  expect(link.pathname).toStartWith('/h5/')
  const names = ['accessKeyId', 'secretAccessKey', 'sessionToken', 'configId', 'bytedToken', 'lng']
  expect([...link.searchParams.keys()]).toEqual(names)
  expect(link.searchParams.get('bytedToken')).toBe(Result.BytedToken)
  for (const name of names.slice(0, -1)) expect(link.searchParams.get(name)?.length).toBeGreaterThan(20)
  // real secrets also contain characters that a query must escape
  expect(link.searchParams.get('secretAccessKey')).toMatch(/=$/)
  expect(link.search).not.toContain(emulator.ark.secretKey)
})

test('two sessions have different credentials', async () => {
  const emulator = await start({ clock: () => Date.now() })
  const links = [await begin(emulator), await begin(emulator)].map(({ link }) => new URL(link).searchParams)
  for (const name of ['accessKeyId', 'secretAccessKey', 'sessionToken', 'configId', 'bytedToken']) {
    expect(new Set(links.map((link) => link.get(name))).size).toBe(2)
  }
})

test('URLs have escaped ampersands, as from the vendor’s JSON encoder', async () => {
  const { text } = await create(await start(), { CallbackURL: `${CALLBACK}?a=1&b=2` })
  expect(text).not.toContain('&')
  expect(text).toContain('?a=1\\u0026b=2')
})

test('CallbackURL is required and must be an absolute http or https URL', async () => {
  const emulator = await start()
  expect((await create(emulator, {})).code).toBe('MissingParameter.CallbackURL')
  expect((await create(emulator, { CallbackURL: '' })).code).toBe('MissingParameter.CallbackURL')
  for (const CallbackURL of [
    '/callback',
    'gate.test/callback',
    '//gate.test/callback',
    'javascript:alert(1)',
    'ftp://gate.test/',
    'https:gate.test',
    'https:///gate.test',
    'https://gate.test/a b',
    'https://gate.test/\r\nSet-Cookie: a=b',
    'http://gate.test:99999/',
    7,
  ]) {
    expect(await create(emulator, { CallbackURL })).toMatchObject({ status: 400, code: 'InvalidParameter.CallbackURL' })
  }
  for (const CallbackURL of ['http://127.0.0.1:3000/x', 'HTTPS://gate.test', 'https://[::1]:3000/x?y#z']) {
    expect((await create(emulator, { CallbackURL })).status).toBe(200)
  }
  expect(emulator.face.sessions()).toHaveLength(3)
})

test('both actions require a signature', async () => {
  const emulator = await start()
  for (const action of ['CreateVisualValidateSession', 'GetVisualValidateResult']) {
    const { url, ...init } = arkRequest(emulator, action, `{"CallbackURL":"${CALLBACK}"}`, { secretKey: 'wrong' })
    const response = await fetch(url, { method: 'POST', ...init })
    expect(response.status).toBe(401)
    expect(await response.text()).toContain('"Code":"SignatureDoesNotMatch"')
  }
  expect(emulator.face.sessions()).toEqual([])
})

test('success creates one LivenessFace group at once, and every result request returns its id', async () => {
  const emulator = await start()
  const { token } = await begin(emulator)
  expect(emulator.library.groups()).toEqual([])
  const from = emulator.library.now()
  emulator.library.advance(60_000)
  emulator.face.finish(token, 'succeed')
  const [group, ...others] = emulator.library.groups()
  expect(others).toEqual([])
  expect(group).toMatchObject({ type: 'LivenessFace', project: 'default' })
  expect(group?.id).toMatch(/^group-\d{14}-[a-z0-9]{5}$/)
  expect(group?.createTime).toBeGreaterThanOrEqual(from + 60_000)
  for (let n = 0; n < 2; n++) expect((await result(emulator, token)).Result).toEqual({ GroupId: group?.id })
  expect(emulator.library.groups()).toHaveLength(1)
})

test('the callback has the token and the result code after the query of the callback URL', async () => {
  const emulator = await start()
  const { token } = await begin(emulator, 'https://gate.test/cb?x=%2F&y=a+b&x=1#part')
  const fixed = 'algorithmBaseRespCode=0&reqMeasureInfoValue=1&verify_type=real_time'
  expect(emulator.face.finish(token, 'succeed')).toBe(
    `https://gate.test/cb?x=%2F&y=a+b&x=1&bytedToken=${token}&resultCode=10000&${fixed}#part`,
  )
  const plain = await begin(emulator, 'https://gate.test')
  const back = emulator.face.finish(plain.token, 'fail')
  expect(back).toStartWith(`https://gate.test/?bytedToken=${plain.token}&resultCode=`)
  expect(new URL(back ?? '').searchParams.get('resultCode')).toMatch(/^\d{5}$/)
  expect(back).not.toContain('resultCode=10000')
})

test('failure and closing never create a group', async () => {
  const emulator = await start()
  const [failed, closed] = [await begin(emulator), await begin(emulator)]
  expect(emulator.face.finish(failed.token, 'fail')).toStartWith(CALLBACK)
  expect(emulator.face.finish(closed.token, 'close')).toBeUndefined()
  for (const { token } of [failed, closed]) {
    expect(emulator.face.finish(token, 'succeed')).toBeUndefined()
    expect((await result(emulator, token)).Result).toEqual({ GroupId: '' })
  }
  expect(emulator.library.groups()).toEqual([])
})

test('a session ends once: a second success creates no group and does not redirect', async () => {
  const emulator = await start()
  const { token } = await begin(emulator)
  expect(emulator.face.finish(token, 'succeed')).toBeDefined()
  for (const again of ['succeed', 'fail', 'close'] as const) {
    expect(emulator.face.finish(token, again)).toBeUndefined()
  }
  expect(emulator.library.count().groups).toBe(1)
  expect(emulator.face.sessions()).toMatchObject([{ state: 'succeeded', groupId: emulator.library.groups()[0]?.id }])
})

test('before success the result is an empty GroupId or an error, as facePending says', async () => {
  const empty = await start()
  expect(await result(empty, (await begin(empty)).token)).toMatchObject({ status: 200, Result: { GroupId: '' } })
  const erring = await start({ facePending: 'error' })
  const { token } = await begin(erring)
  expect(await result(erring, token)).toMatchObject({ status: 404, code: 'NotFound.group_id' })
  erring.face.finish(token, 'succeed')
  expect((await result(erring, token)).Result.GroupId).toStartWith('group-')
})

test('a token that is unknown, missing or of another project is rejected', async () => {
  const emulator = await start()
  expect((await result(emulator, 'token')).code).toBe('NotFound.byted_token')
  expect((await result(emulator, '')).code).toBe('MissingParameter.BytedToken')
  expect((await ark(emulator, 'GetVisualValidateResult', {})).code).toBe('MissingParameter.BytedToken')
  expect((await ark(emulator, 'GetVisualValidateResult', { BytedToken: 1 })).code).toBe('InvalidParameter.BytedToken')
  const { token } = await begin(emulator, CALLBACK, { ProjectName: 'Mine' })
  emulator.face.finish(token, 'succeed')
  expect(await result(emulator, token)).toMatchObject({ status: 404, code: 'NotFound.byted_token' })
  expect((await result(emulator, token, { ProjectName: 'mine' })).status).toBe(404)
  const { GroupId } = (await result(emulator, token, { ProjectName: 'Mine' })).Result
  expect(emulator.library.group(GroupId)?.project).toBe('Mine')
  expect(() => emulator.face.finish('token', 'succeed')).toThrow('no face session')
})

test('a session and its result expire after exactly 30 minutes', async () => {
  const now = Date.UTC(2026, 0)
  const emulator = await start({ clock: () => now })
  const make = () => ark(emulator, 'CreateVisualValidateSession', { CallbackURL: CALLBACK }, now)
  const [late, done] = [(await make()).Result.BytedToken, (await make()).Result.BytedToken]
  emulator.library.advance(30 * 60_000 - 1)
  emulator.face.finish(done, 'succeed')
  expect((await result(emulator, late, {}, now)).status).toBe(200)
  emulator.library.advance(1)
  for (const token of [late, done]) {
    expect(await result(emulator, token, {}, now)).toMatchObject({ status: 404, code: 'NotFound.byted_token' })
  }
  expect(emulator.face.finish(late, 'succeed')).toBeUndefined()
  expect(emulator.library.count().groups).toBe(1)
  expect(emulator.face.sessions().map(({ state }) => state)).toEqual(['expired', 'succeeded'])
})

test('faceSessionMs sets another lifetime, and an invalid one is rejected', async () => {
  const emulator = await start({ faceSessionMs: 120_000 })
  const { token } = await begin(emulator)
  emulator.library.advance(120_000)
  expect((await result(emulator, token)).status).toBe(404)
  for (const faceSessionMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    await expect(startEmulator({ faceSessionMs })).rejects.toThrow('faceSessionMs')
  }
  await expect(startEmulator({ faceResolvingMs: -1 })).rejects.toThrow('faceResolvingMs')
  await expect(startEmulator({ faceUrl: 'lan.test:3000' })).rejects.toThrow('faceUrl')
})

test('each of the two actions has a documented limit of three calls per second', async () => {
  const now = Date.UTC(2026, 0)
  const emulator = await start({ limits: documentedLimits, clock: () => now })
  const codes = async (action: string, body: object) => {
    const responses = await Promise.all(Array.from({ length: 5 }, () => ark(emulator, action, body, now)))
    return responses.map(({ code = 'fine' }) => code).sort()
  }
  const over = ['RateLimitExceeded', 'RateLimitExceeded']
  const made = await codes('CreateVisualValidateSession', { CallbackURL: CALLBACK })
  expect(made).toEqual([...over, 'fine', 'fine', 'fine'])
  expect(emulator.face.sessions()).toHaveLength(3)
  const [first] = emulator.face.sessions()
  const asked = await codes('GetVisualValidateResult', { BytedToken: first?.bytedToken })
  expect(asked).toEqual([...over, 'fine', 'fine', 'fine'])
  expect(emulator.maxCallsPerSecond('GetVisualValidateResult')).toBe(5)
})

test('a full account cannot create a session', async () => {
  const emulator = await start({ quota: 1 })
  const { token } = await begin(emulator)
  emulator.face.finish(token, 'succeed')
  expect(await create(emulator, { CallbackURL: CALLBACK })).toMatchObject({ status: 403, code: 'QuotaExceeded' })
})

test('the group is listed, accepts assets, and cannot be deleted while its authorization is valid', async () => {
  const emulator = await start({ processingMs: 0 })
  const { token } = await begin(emulator)
  emulator.face.finish(token, 'succeed')
  const { GroupId } = (await result(emulator, token)).Result
  const Filter = { GroupType: 'LivenessFace' }
  expect((await ark(emulator, 'ListAssetGroups', { Filter })).Result.Items).toMatchObject([
    { Id: GroupId, GroupType: 'LivenessFace' },
  ])
  expect((await ark(emulator, 'ListAssetGroups', { Filter: { GroupType: 'AIGC' } })).Result.Items).toEqual([])
  const upload = async (URL: string) => {
    const { Result } = await ark(emulator, 'CreateAsset', { GroupId, URL, AssetType: 'Image' })
    return (await ark(emulator, 'GetAsset', { Id: Result.Id })).Result
  }
  expect(await upload('https://x.example/me.png')).toMatchObject({ GroupId, Status: 'Active' })
  const other = await upload('https://x.example/fail-FaceMismatch/you.png')
  expect(other).toMatchObject({ Status: 'Failed', Error: { Code: 'FaceMismatch' } })
  expect((await ark(emulator, 'ListAssets', { Filter: { ...Filter, GroupIds: [GroupId] } })).Result.Items).toHaveLength(
    2,
  )
  expect((await ark(emulator, 'DeleteAssetGroup', { Id: GroupId })).code).toBe('OperationDenied.LivenessFace')
})

test('faceGroupsListed: false removes LivenessFace groups from group lists only', async () => {
  const emulator = await start({ faceGroupsListed: false })
  const aigc = emulator.library.addGroup({ name: 'a' })
  const { token } = await begin(emulator)
  emulator.face.finish(token, 'succeed')
  const { GroupId } = (await result(emulator, token)).Result
  const asset = emulator.library.addAsset({ groupId: GroupId })
  const list = async (action: string, GroupType: string) =>
    (await ark(emulator, action, { Filter: { GroupType, GroupIds: [GroupId, aigc.id] } })).Result.Items
  expect(await list('ListAssetGroups', 'LivenessFace')).toEqual([])
  expect((await rest(emulator, 'GET', '/assets/groups?GroupType=LivenessFace')).Result.Items).toEqual([])
  expect(await list('ListAssetGroups', 'AIGC')).toMatchObject([{ Id: aigc.id }])
  expect(await list('ListAssets', 'LivenessFace')).toMatchObject([{ Id: asset.id }])
  expect((await ark(emulator, 'GetAssetGroup', { Id: GroupId })).status).toBe(200)
})

test('results are wrapped or flat, errors are always wrapped', async () => {
  const flat = await start({ faceEnvelope: 'flat' })
  const created = await ark(flat, 'CreateVisualValidateSession', { CallbackURL: CALLBACK })
  const { BytedToken } = JSON.parse(created.text)
  expect(created.text).toStartWith('{"BytedToken":')
  expect((await result(flat, BytedToken)).text).toBe('{"GroupId":""}')
  expect((await result(flat, 'other')).code).toBe('NotFound.byted_token')
  expect((await ark(flat, 'GetAssetQuota', {})).text).toStartWith('{"ResponseMetadata":')
})

test('faceUrl and faceLanguage set the base URL and the language of links', async () => {
  const emulator = await start({ faceUrl: 'https://lan.test:8443/', faceLanguage: 'zh-Hant' })
  const link = new URL((await begin(emulator)).link)
  expect(link.href).toStartWith('https://lan.test:8443/h5/')
  expect(link.searchParams.get('lng')).toBe('zh-Hant')
})
