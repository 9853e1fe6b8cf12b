//! Conditions are printed as herd7 prints them, and what is printed reads as the same condition.

use teetotal::parts::program::ir::printer;
use teetotal::{Program, litmus};

/// A test with this condition; its registers hold numbers and an address.
fn test(condition: &str) -> Program {
    let text = format!(
        "X86_64 test\n{{ uint8_t z; 0:rbx=x; }}\n P0 | P1 ;\n movq $1,(%rbx) | movb $2,(z) ;\n movq (y),%rax | movq $1,(y) ;\n{condition}\n"
    );
    litmus::read("test", &text).unwrap_or_else(|found| panic!("{condition}: {found:?}"))
}

fn check(written: &str, printed: &str) {
    let program = test(written);
    let condition = program.condition.as_ref().expect("the test has one");
    assert_eq!(printer::condition(&program, condition), printed);
    assert_eq!(test(printed).condition.as_ref(), Some(condition), "{printed}");
}

#[test]
fn only_a_disjunction_inside_a_conjunction_needs_parentheses() {
    check("exists x=1 /\\ 0:rax=0", "exists ([x]=1 /\\ 0:rax=0)");
    check("exists ((x=1 /\\ y=1) \\/ (0:rax=0))", "exists ([x]=1 /\\ [y]=1 \\/ 0:rax=0)");
    check("exists ((x=1 \\/ y=1) /\\ 0:rax=0)", "exists (([x]=1 \\/ [y]=1) /\\ 0:rax=0)");
    check("forall (((x=1 /\\ (y=1 /\\ 0:rax=0))))", "forall ([x]=1 /\\ [y]=1 /\\ 0:rax=0)");
    check("~exists (x=1 \\/ (y=1 \\/ 0:rax=0))", "~exists ([x]=1 \\/ [y]=1 \\/ 0:rax=0)");
    check("exists (x=1 /\\ (y=1 \\/ 0:rax=0 /\\ z=2))", "exists ([x]=1 /\\ ([y]=1 \\/ 0:rax=0 /\\ [z]=2))");
}

#[test]
fn negations_and_constants_keep_their_meaning() {
    check("exists (~x=1 /\\ not (y=1 \\/ y=2))", "exists (not ([x]=1) /\\ not ([y]=1 \\/ [y]=2))");
    check("exists (not (not (x=1)))", "exists (not (not ([x]=1)))");
    check("forall true", "forall (true)");
    check("exists (false)", "exists (not (true))");
    check("exists (x<>1 /\\ y>=-1 /\\ z<=255)", "exists ([x]<>1 /\\ [y]>=-1 /\\ [z]<=255)");
}

#[test]
fn an_address_is_the_name_of_its_location() {
    check("exists (0:rbx=x /\\ y=x)", "exists (0:rbx=x /\\ [y]=x)");
    check("exists ([x]=[y])", "exists ([x]=[y])");
}
