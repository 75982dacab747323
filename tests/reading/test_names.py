"""Short names of kernels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.reading import short_name

NAMES = {
    "void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>, "
    "std::array<char *, (unsigned long)1>>(int, T2, T3)": "vectorized_elementwise_kernel",
    "void launch<(int)256, run(Box const &, int)::{lambda(int, int, int)#1}>(Box, T3)": "launch",
    "render::bench::<unnamed>::saxpy(float, const float *, float *, unsigned long)": "saxpy",
    "void (anonymous namespace)::k<T>(T)": "k",
    "triton_poi_fused_add_cos_sin_0": "triton_poi_fused_add_cos_sin_0",
    "nvkernel_flux_F1L210_3": "nvkernel_flux_F1L210_3",
    "copy_blocked[v1,cw51](array<float, 1d>)": "copy_blocked",
    "gemm<float, 128>": "gemm",
    'k_with_quote<"x">(int)': "k_with_quote",
    "ns::Functor::operator()(int) const": "operator()",
    "foo::{lambda(int)#1}::operator()(int) const": "operator()",
    "run(int)::{lambda(int)#1}": "{lambda(int)#1}",
    "operator <<(x)": "operator<<",
    "std::enable_if<(A)1>::type foo<int>(int)": "foo",
    "int* foo(int)": "foo",
    "void foo<(bool)(1>0)>(int)": "foo",
    "void foo<(bool)(a < b)>(int)": "foo",
    "void foo<&S::x->y>(int)": "foo",
    "foo(int) [clone .kd]": "foo",
    "void kernel<[lambda() (instance 1)]>(T1)": "kernel",
    "void foo<(bar<int>(x))>(int)": "foo",
    "_Z3fooPfi": "_Z3fooPfi",
    "a<b": "a",
    "f(": "f",
    "<unnamed>": "<unnamed>",
    "void foo() const": "foo",
    "foo const": "foo",
    "foo (int)": "foo",
    "void foo<bar <int> >(int)": "foo",
    "void foo<(bool)(a<b)>(int)": "foo",
    "void (anonymous namespace)::foo <int> (int)": "foo",
    "cooperator(int)": "cooperator",
    "a] b<(]>(x)": "b",
    "foo(int) [clone .kd] [clone .x] const volatile": "foo",
    "foo(int)const": "foo",
    "fooconst": "fooconst",
    " const": "const",
    "foo [a]": "foo",
    "foo [clone .k]]": "foo]",
    "": "",
}


DEEP = 100_000
LONG_NAMES = {
    "angles": "f" + "<" * DEEP + ")" * DEEP + ">(int)",
    "all kinds": "f" + "<([{" * DEEP,
    "closing": "f(" + "a<" * DEEP + ")" * DEEP,
    "blanks": "void f" + " " * DEEP + "(int)",
    "words": "a b " * DEEP + "f(int)",
    "clones": "f" + "(int) [clone a]" * DEEP,
    "qualifiers": "f(int)" + " const" * DEEP,
    "operators": "operator " * DEEP + "f(int)",
    "lambdas": "f" + "{}" * DEEP + "(int)",
    "scopes": "a::" * DEEP + "f(int)",
}


@pytest.mark.parametrize("kind", LONG_NAMES)
def test_long_names_take_no_longer_than_they_are(kind: str) -> None:
    """Some hundred thousand characters in less than a second; twice that time squared would be hours."""
    assert short_name(LONG_NAMES[kind]).startswith(("f", "operator"))


@pytest.mark.parametrize(("name", "short"), NAMES.items())
def test_short_names(name: str, short: str) -> None:
    assert short_name(name) == short


@given(st.text(alphabet="ab:<>()[]{}- ,opertr*&", max_size=40))
def test_never_empty_and_never_an_error(name: str) -> None:
    assert short_name(name) or not name.strip()
