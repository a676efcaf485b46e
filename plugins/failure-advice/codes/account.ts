import type { FailureEntries, FailureEntry } from '../entry.ts'

const tooFast = (seconds: number, en: string, zh: string): FailureEntry => ({
  ...{ retry: true, retry_after: seconds, by: 'vendor', en, zh },
})

const accountRate = tooFast(
  30,
  'The account sends more than the vendor allows in a minute. Wait half a minute and try again.',
  '账号的请求频率超过了厂商的每分钟限制：请等待半分钟后重试。',
)

const credentials: FailureEntry = {
  by: 'operator',
  en: "The vendor rejects the gateway's credentials. Only the operator can correct that.",
  zh: '厂商拒绝了网关的凭证，只有管理员才能处理。',
}

/** The account may not, cannot pay, or sends too much. */
export const accountCodes: FailureEntries = {
  RateLimitExceeded: accountRate,
  Throttling: accountRate,
  AccountRateLimitExceeded: accountRate,
  APIAccountRpmRateLimitExceeded: accountRate,
  ModelAccountRpmRateLimitExceeded: accountRate,
  ModelAccountTpmRateLimitExceeded: accountRate,
  ModelAccountIpmRateLimitExceeded: accountRate,
  RequestBurstTooFast: tooFast(
    10,
    'Requests came too suddenly. Start slowly, with longer pauses after each refusal.',
    '请求增长过快：请放慢速度，每次被拒绝后等待更长时间。',
  ),
  ServerOverloaded: tooFast(
    30,
    'The vendor is overloaded. Wait, and try again with growing pauses.',
    '厂商服务繁忙：请稍候，并逐渐延长重试间隔。',
  ),
  InflightBatchsizeExceeded: tooFast(
    60,
    'As many tasks are running as the account may have. The next one starts when one ends.',
    '账号中正在运行的任务已达上限：有任务结束后即可继续。',
  ),
  QuotaExceeded: [
    {
      message: /^the limit of .* is reached/,
      by: 'operator',
      en: 'A limit that the operator has set is reached. The message says which, and when it returns: wait for that, delete what you no longer need, or ask the operator for more.',
      zh: '已达到管理员设置的限额，错误信息里写明了是哪一项以及何时恢复：请等待恢复、删除不再需要的内容，或请管理员提高限额。',
    },
    {
      message: /may have at most \d+ assets/,
      change: 'parameter',
      en: 'The request names more assets than there is room for at once. Send it with fewer.',
      zh: '请求引用的素材超过了可同时使用的数量：请减少引用的素材。',
    },
    {
      message: /\bassets?\b/i,
      by: 'operator',
      en: 'The asset library has no more room. Delete assets that nobody needs, or ask the operator for more room.',
      zh: '素材库已满：请删除不再需要的素材，或请管理员扩容。',
    },
    {
      message: /free trial|5-hour|weekly|monthly/i,
      by: 'operator',
      en: 'What the account has paid for, or may try without payment, is used up. The operator has to buy more.',
      zh: '账号的付费额度或免费试用额度已用完，需要管理员续费。',
    },
    tooFast(
      60,
      'Too many tasks wait in the account. Try again when one has left the queue.',
      '账号中排队的任务过多：请在队列空出后重试。',
    ),
  ],
  QuotaSharedPoolExceeded: {
    by: 'operator',
    en: 'The asset library of the account is full. Delete assets that nobody needs, or ask the operator for more room.',
    zh: '账号的素材库已满：请删除不再需要的素材，或请管理员扩容。',
  },
  SetLimitExceeded: {
    by: 'operator',
    en: "The safety limit that the operator has set in the vendor's console is reached. Only the operator can raise it.",
    zh: '已达到管理员在厂商控制台设置的安全限额，只有管理员可以调整。',
  },
  SubscriptionRequired: {
    by: 'operator',
    en: 'The account has not bought this part of the service. It is no wrong password: the operator has to subscribe.',
    zh: '账号未购买该服务。这不是鉴权错误，需要管理员开通订阅。',
  },
  AccountOverdueError: {
    by: 'operator',
    en: 'The account owes money, so the vendor serves nothing. The operator has to pay.',
    zh: '账号已欠费，厂商暂停了服务，需要管理员充值。',
  },
  InvalidAccountStatus: {
    by: 'operator',
    en: 'The vendor has suspended the account. Only the operator can settle that with the vendor.',
    zh: '账号状态异常，已被厂商停用，需要管理员与厂商沟通。',
  },
  AccessDenied: {
    by: 'operator',
    en: "The gateway's credentials lack a permission for this. The operator has to grant it.",
    zh: '网关的凭证缺少相应权限，需要管理员授权。',
  },
  OperationDenied: {
    by: 'operator',
    en: 'The account may not do this. The operator finds the reason in the console of the vendor.',
    zh: '账号不允许执行该操作，管理员可在厂商控制台查看原因。',
  },
  AuthenticationError: credentials,
  SignatureDoesNotMatch: credentials,
  InvalidAccessKeyId: credentials,
  ExpiredToken: credentials,
  InvalidSecretToken: credentials,
  InternalServiceError: {
    ...{ retry: true, retry_after: 60, by: 'vendor' },
    en: 'The vendor had an internal error. Look at your list of tasks before you send it again: a create call may have succeeded.',
    zh: '厂商内部错误。重新提交前请先查看任务列表：任务可能已经创建成功。',
  },
}
