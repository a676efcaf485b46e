/** @type {typeof import('../en/login.js').login} */
export const login = {
  login: {
    title: '登录',
    lead: '管理素材、人脸验证、对话和 API 令牌。',
    name: '用户名',
    password: '密码',
    submit: '登录',
    wrong: '用户名或密码错误。',
    tooManyAttempts: '尝试次数过多，请稍候。',
    wait: (seconds) => `${seconds} 秒后重试`,
    sessionEnded: '会话已结束，请重新登录。',
    loggedOutElsewhere: '您已在另一个标签页退出登录。',
    hint: '账号由本服务的管理员创建。',
  },
  invitation: {
    title: '邀请',
    welcome: (name) => `欢迎，${name}`,
    setPassword: '请设置您的登录密码。',
    logInElsewhere: '请登录以接受邀请。',
    password: '新密码',
    rules: '至少 12 个字符；或至少 8 个字符且包含小写字母、大写字母、数字、其他字符中的三类。不能与用户名相同。',
    weak: '密码不符合要求，请换一个。',
    submit: '设置密码',
    ended: '此邀请已失效。请索取新的邀请，或直接登录。',
  },
}
